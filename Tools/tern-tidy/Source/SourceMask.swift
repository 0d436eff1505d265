/// Blanks comments and the contents of string literals, and keeps every line where it was.
///
/// What is interpolated into a string is blanked with it.
struct SourceMask {
  private var bytes: [UInt8]
  private var index = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  mutating func run() -> [UInt8] {
    while index < bytes.count {
      if starts(with: "//") {
        blank { $0.bytes[$0.index] == UInt8(ascii: "\n") }
      } else if starts(with: "/*") {
        blankBlockComment()
      } else if let hashes = literalStart() {
        blankLiteral(hashes)
      } else {
        index += 1
      }
    }
    return bytes
  }

  private mutating func blankBlockComment() {
    var depth = 0
    repeat {
      if starts(with: "/*") {
        depth += 1
        erase(2)
      } else if starts(with: "*/") {
        depth -= 1
        erase(2)
      } else {
        erase(1)
      }
    } while depth > 0 && index < bytes.count
  }

  /// The number of `#` in front of a string literal that begins here.
  private func literalStart() -> Int? {
    var end = index
    while end < bytes.count, bytes[end] == UInt8(ascii: "#") { end += 1 }
    guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { return nil }
    return end - index
  }

  private mutating func blankLiteral(_ hashes: Int) {
    let pounds = String(repeating: "#", count: hashes)
    index += hashes
    let quote = starts(with: "\"\"\"") ? "\"\"\"" : "\""
    index += quote.utf8.count
    while index < bytes.count {
      if starts(with: quote + pounds) {
        index += quote.utf8.count + hashes
        return
      }
      if starts(with: "\\" + pounds + "(") {
        erase(2 + hashes)
        blankInterpolation()
      } else if starts(with: "\\" + pounds) {
        erase(2 + hashes)
      } else if quote.utf8.count == 1, bytes[index] == UInt8(ascii: "\n") {
        return
      } else {
        erase(1)
      }
    }
  }

  private mutating func blankInterpolation() {
    var depth = 1
    while depth > 0, index < bytes.count {
      if let hashes = literalStart() {
        let start = index
        blankLiteral(hashes)
        for place in start..<index where bytes[place] != UInt8(ascii: "\n") {
          bytes[place] = UInt8(ascii: " ")
        }
        continue
      }
      if bytes[index] == UInt8(ascii: "(") { depth += 1 }
      if bytes[index] == UInt8(ascii: ")") { depth -= 1 }
      erase(1)
    }
  }

  private mutating func blank(until isEnd: (SourceMask) -> Bool) {
    while index < bytes.count, !isEnd(self) { erase(1) }
  }

  private mutating func erase(_ count: Int) {
    for _ in 0..<count where index < bytes.count {
      if bytes[index] != UInt8(ascii: "\n") { bytes[index] = UInt8(ascii: " ") }
      index += 1
    }
  }

  private func starts(with text: String) -> Bool {
    let utf8 = text.utf8
    guard index + utf8.count <= bytes.count else { return false }
    return zip(utf8, bytes[index...]).allSatisfy { $0 == $1 }
  }
}
