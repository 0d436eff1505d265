/// A place in a text as editors count it: lines and columns from 1.
public struct TextPosition: Hashable, Sendable, CustomStringConvertible {
  /// The line, from 1.
  public private(set) var line = 1
  /// The column, from 1, in Unicode scalars.
  public private(set) var column = 1

  /// The first place of a text.
  public init() {}

  /// The place of a byte, or the end of the text for an offset beyond it.
  ///
  /// - Complexity: O(`offset`).
  public init(ofByte offset: Int, in text: some Collection<UInt8>) {
    self.init()
    advance(over: text.prefix(offset))
  }

  /// Moves on by a part of the text.
  package mutating func advance(over bytes: some Sequence<UInt8>) {
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        // All bytes of a character after its first begin with the bits 10.
        column += 1
      }
    }
  }

  /// "line 1, column 2".
  public var description: String { "line \(line), column \(column)" }
}
