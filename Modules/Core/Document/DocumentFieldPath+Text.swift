extension DocumentFieldPath: CustomStringConvertible {
  /// The path as the wire spells it.
  public var description: String { text }

  /// The path as the wire spells it: names joined by dots, in backticks unless they look like
  /// identifiers.
  public var text: String {
    names.map(DocumentFieldPath.quoted).joined(separator: ".")
  }

  private static func quoted(_ name: String) -> String {
    if isIdentifier(name) { return name }
    var text = "`"
    for character in name.unicodeScalars {
      if character == "`" || character == "\\" { text.unicodeScalars.append("\\") }
      text.unicodeScalars.append(character)
    }
    return text + "`"
  }

  private static func isIdentifier(_ name: String) -> Bool {
    guard let first = name.utf8.first, !isDigit(first) else { return false }
    return name.utf8.allSatisfy { byte in
      isDigit(byte) || byte == UInt8(ascii: "_") || isLetter(byte)
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
  }

  /// Reads the wire's spelling. A backslash may stand before a backquote, `\` and `.` only.
  ///
  /// - Throws: ``DocumentError/invalidFieldPath(_:)`` for an open quote, a backslash that
  ///   quotes nothing, or an empty name; ``DocumentError/fieldPathTooLong(byteCount:limit:)``.
  public init(wire text: String) throws(DocumentError) {
    var names: [String] = []
    var name: [UInt8] = []
    var isQuoted = false
    var bytes = text.utf8.makeIterator()
    while let byte = bytes.next() {
      switch byte {
      case UInt8(ascii: "\\"):
        guard let next = bytes.next(), "`\\.".utf8.contains(next) else {
          throw .invalidFieldPath(text)
        }
        name.append(next)
      case UInt8(ascii: "`"): isQuoted.toggle()
      case UInt8(ascii: ".") where !isQuoted:
        names.append(String(decoding: name, as: UTF8.self))
        name = []
      default: name.append(byte)
      }
    }
    names.append(String(decoding: name, as: UTF8.self))
    if isQuoted || names.contains("") { throw .invalidFieldPath(text) }
    try self.init(names)
  }
}
