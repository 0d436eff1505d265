package import TernCore

/// The bytes of a path: in byte order, rows lie as their paths do in key order.
///
/// A node's own row comes first, then its priority, then its children: integers by value, all
/// others by UTF-16 code unit. Source: Docs/Formats/tree-rows.md, section 1.
package enum RowKey {
  /// Ends a text segment, and an integer that is written the shortest way.
  static let end: UInt8 = 0x00
  /// Follows an integer that is written some other way; then come its length and its text.
  static let spelled: UInt8 = 0x01
  /// The whole segment of a priority.
  static let priority: UInt8 = 0x08
  /// Opens an integer; every text segment opens with a greater byte.
  static let integer: UInt8 = 0x10
  /// The least byte of a text segment, its end aside.
  private static let firstOfText: UInt8 = 0x20

  /// Appends one segment.
  package static func append(_ key: TreeKey, to bytes: inout [UInt8]) {
    if key.isPriority {
      bytes.append(priority)
    } else if let value = key.integer {
      append(value, spelled: key.text, to: &bytes)
    } else {
      for byte in key.text.utf8 { bytes.append(ordered(byte)) }
      bytes.append(end)
    }
  }

  /// Appends the segment of a key that children are compared with, which no child may have itself:
  /// it lies where the key does among those of children.
  package static func append(bound key: TreeKey, to bytes: inout [UInt8]) {
    if key.integer != nil { return append(key, to: &bytes) }
    // No child has a control character in its key, so none lies between the text before the first
    // one and the text with it.
    let text = key.text.utf8.prefix { $0 >= firstOfText }
    if text.isEmpty { return bytes.append(integer + 1) }
    for byte in text { bytes.append(ordered(byte)) }
    bytes.append(end)
  }

  /// Appends all segments of a path.
  package static func append(_ path: TreePath, to bytes: inout [UInt8]) {
    for key in path.keys { append(key, to: &bytes) }
  }

  private static func append(_ value: Int32, spelled text: String, to bytes: inout [UInt8]) {
    let biased = UInt32(bitPattern: value) ^ 0x8000_0000
    bytes.append(integer)
    for shift in [24, 16, 8, 0] as [UInt32] {
      bytes.append(UInt8(truncatingIfNeeded: biased >> shift))
    }
    if isShortest(text, of: value) {
      bytes.append(end)
    } else {
      let count = UInt16(clamping: text.utf8.count)
      bytes.append(contentsOf: [spelled, UInt8(count >> 8), UInt8(truncatingIfNeeded: count)])
      bytes.append(contentsOf: text.utf8)
    }
  }

  /// Returns `true` if `text`, known to spell `value`, has no leading zero and no redundant sign.
  private static func isShortest(_ text: String, of value: Int32) -> Bool {
    var digits = text.utf8[...]
    if digits.first == UInt8(ascii: "-") {
      if value == 0 { return false }
      digits = digits.dropFirst()
    }
    return digits.first != UInt8(ascii: "0") || digits.count == 1
  }

  /// Moves the lead bytes of supplementary characters before those of U+E000...U+FFFF, where
  /// UTF-16 has them; its inverse is ``plain(_:)``.
  private static func ordered(_ byte: UInt8) -> UInt8 {
    switch byte {
    case 0xEE, 0xEF: byte + 5
    case 0xF0...0xF4: byte - 2
    default: byte
    }
  }

  private static func plain(_ byte: UInt8) -> UInt8 {
    switch byte {
    case 0xF3, 0xF4: byte - 5
    case 0xEE...0xF2: byte + 2
    default: byte
    }
  }
}

extension RowKey {
  /// Reads the segment that starts at `offset` and moves past it; `nil` when it is malformed.
  package static func segment(of bytes: Span<UInt8>, at offset: inout Int) -> TreeKey? {
    guard offset < bytes.count else { return nil }
    switch bytes[offset] {
    case priority:
      offset += 1
      return .priority
    case integer:
      return integerSegment(of: bytes, at: &offset)
    case firstOfText...:
      return textSegment(of: bytes, at: &offset)
    default:
      return nil
    }
  }

  private static func textSegment(of bytes: Span<UInt8>, at offset: inout Int) -> TreeKey? {
    let start = offset
    var isPlain = true
    while offset < bytes.count, bytes[offset] != end {
      if bytes[offset] >= 0xEE { isPlain = false }
      offset += 1
    }
    guard offset < bytes.count else { return nil }
    let text = bytes.extracting(start..<offset)
    offset += 1
    return TreeKey(unchecked: isPlain ? string(text) : string([UInt8](text, by: plain).span))
  }

  private static func integerSegment(of bytes: Span<UInt8>, at offset: inout Int) -> TreeKey? {
    guard offset + 6 <= bytes.count else { return nil }
    var biased: UInt32 = 0
    for index in offset + 1...offset + 4 { biased = biased << 8 | UInt32(bytes[index]) }
    let kind = bytes[offset + 5]
    offset += 6
    if kind == end {
      return TreeKey(unchecked: String(Int32(bitPattern: biased ^ 0x8000_0000)))
    }
    guard kind == spelled, offset + 2 <= bytes.count else { return nil }
    let count = Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
    offset += 2
    guard offset + count <= bytes.count else { return nil }
    let text = bytes.extracting(offset..<offset + count)
    offset += count
    return TreeKey(unchecked: string(text))
  }

  private static func string(_ bytes: Span<UInt8>) -> String {
    // Safe: the buffer is only read, and only here.
    unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}

extension [UInt8] {
  fileprivate init(_ span: Span<UInt8>, by transform: (UInt8) -> UInt8) {
    self = []
    reserveCapacity(span.count)
    for index in span.indices { append(transform(span[index])) }
  }
}
