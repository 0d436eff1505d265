/// Appends JSON text to a buffer of bytes, placing the commas.
///
/// The caller brings the structure: between ``beginObject()`` and ``endObject()`` every value
/// follows a ``key(_:)``.
///
/// It keeps no stack: the caller is responsible for balanced brackets. Output is ASCII apart from
/// the text of strings, which is written as UTF-8 without escapes where JSON allows it.
package struct JSONWriter: Sendable {
  /// The text so far.
  package private(set) var bytes: [UInt8]

  /// True when a value precedes at the same level, so that the next one needs a comma.
  private var needsComma = false

  package init(capacity: Int = 0) {
    bytes = []
    bytes.reserveCapacity(capacity)
  }

  package mutating func beginObject() { open(UInt8(ascii: "{")) }

  package mutating func endObject() { close(UInt8(ascii: "}")) }

  package mutating func beginArray() { open(UInt8(ascii: "[")) }

  package mutating func endArray() { close(UInt8(ascii: "]")) }

  /// Removes and returns the text so far; what is open stays open.
  package mutating func take() -> [UInt8] {
    let taken = bytes
    bytes = []
    bytes.reserveCapacity(taken.count)
    return taken
  }

  /// Writes the name of the member whose value comes next.
  package mutating func key(_ name: String) {
    separate()
    appendQuoted(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  package mutating func string(_ text: String) {
    separate()
    appendQuoted(text)
    needsComma = true
  }

  package mutating func integer(_ value: some BinaryInteger) {
    separate()
    appendDigits(value.magnitude > UInt64.max ? 0 : UInt64(value.magnitude), negative: value < 0)
    needsComma = true
  }

  /// Writes the shortest text that reads back as the same double; whole numbers without `.0`.
  ///
  /// JSON has no text for infinities and NaN; they become `null`.
  ///
  /// Negative zero keeps its sign, because hashes of a tree tell the two zeros apart.
  package mutating func double(_ value: Double) {
    guard value.isFinite else { return null() }
    separate()
    if value.magnitude < 0x1p53, value == value.rounded(.towardZero), value != 0 {
      appendDigits(UInt64(value.magnitude), negative: value < 0)
    } else if value == 0 {
      bytes.append(contentsOf: (value.sign == .minus ? "-0.0" : "0").utf8)
    } else {
      bytes.append(contentsOf: value.description.utf8)
      if bytes.suffix(2).elementsEqual(".0".utf8) { bytes.removeLast(2) }
    }
    needsComma = true
  }

  package mutating func bool(_ value: Bool) {
    separate()
    bytes.append(contentsOf: (value ? "true" : "false").utf8)
    needsComma = true
  }

  package mutating func null() {
    separate()
    bytes.append(contentsOf: "null".utf8)
    needsComma = true
  }

  /// Appends a value that is JSON text already.
  ///
  /// The text must be exactly one valid value; it is not checked.
  package mutating func raw(_ json: some Collection<UInt8>) {
    separate()
    bytes.append(contentsOf: json)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
  }

  private mutating func open(_ bracket: UInt8) {
    separate()
    bytes.append(bracket)
    needsComma = false
  }

  private mutating func close(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }
}

extension JSONWriter {
  /// Appends a string with quotes. Plain runs are copied as a whole between escapes.
  private mutating func appendQuoted(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    unsafe text.withBytes { source in
      var (start, index) = (0, 0)
      while index < source.count {
        index = unsafe JSONWriter.skipPlain(source, from: index)
        if index == source.count { break }
        unsafe bytes.append(contentsOf: source[start..<index])
        unsafe appendEscape(of: source[index])
        index += 1
        start = index
      }
      unsafe bytes.append(contentsOf: source[start...])
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Returns the index of the next byte that has to be escaped, or the end: eight bytes at a time
  /// while none of them has to.
  private static func skipPlain(_ source: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    let (ones, tops): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
    let words = UnsafeRawBufferPointer(source)
    var index = start
    while index + 8 <= source.count {
      // Safe: eight bytes are left.
      let word = unsafe words.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      // A byte is less than n when taking n from it borrows; the lowest one found is always right.
      let (quotes, slashes) = (word ^ ones &* 0x22, word ^ ones &* 0x5C)
      let found =
        (word &- ones &* 0x20) & ~word | (quotes &- ones) & ~quotes | (slashes &- ones) & ~slashes
      if found & tops != 0 { break }
      index += 8
    }
    while index < source.count, unsafe !needsEscape(source[index]) { index += 1 }
    return index
  }

  @inline(__always)
  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  /// Appends the escape of one byte: a short form where JSON has a common one, and otherwise
  /// `\u00XX`.
  private mutating func appendEscape(of byte: UInt8) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
    case UInt8(ascii: "\n"): bytes.append(UInt8(ascii: "n"))
    case UInt8(ascii: "\r"): bytes.append(UInt8(ascii: "r"))
    case UInt8(ascii: "\t"): bytes.append(UInt8(ascii: "t"))
    default:
      bytes.append(contentsOf: "u00".utf8)
      for digit in [byte >> 4, byte & 15] {
        bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
      }
    }
  }

  private mutating func appendDigits(_ magnitude: UInt64, negative: Bool) {
    if negative { bytes.append(UInt8(ascii: "-")) }
    let start = bytes.count
    var rest = magnitude
    repeat {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    bytes[start...].reverse()
  }
}
