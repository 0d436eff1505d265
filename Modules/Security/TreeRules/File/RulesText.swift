/// A string of the rules file, decoded, that still knows where each of its bytes was written.
///
/// Escapes and comments make the two differ: `\u0026` is six bytes of the file and one of the text.
struct RulesText: Sendable {
  /// The decoded UTF-8.
  let bytes: [UInt8]
  /// For each decoded byte the offset in the file; one more for the end.
  ///
  /// Offsets fit 32 bits because a file has at most ``RulesLimits/fileBytes``.
  private let origins: [Int32]

  var string: String { String(decoding: bytes, as: UTF8.self) }

  /// Holds a decoded string, with the offset in the file of each of its bytes and of its end.
  init(_ bytes: [UInt8], origins: [Int]) {
    self.bytes = bytes
    self.origins = origins.map { Int32(truncatingIfNeeded: $0) }
  }

  /// The offset in the file of a decoded byte; the closing quote for what lies past the end.
  func origin(of index: Int) -> Int {
    Int(origins[min(max(index, 0), origins.count - 1)])
  }
}

/// A value of the rules file with the offset of its first character.
///
/// All offsets count bytes from the start of the file.
struct RulesJSON: Sendable {
  enum Content: Sendable {
    case object([Member])
    case array([RulesJSON])
    case text(RulesText)
    case bool(Bool)
    case number
    case null
  }

  /// One member of an object. Names are unique within an object; the reader rejects duplicates.
  struct Member: Sendable {
    let name: String
    let nameOffset: Int
    let value: RulesJSON
  }

  let offset: Int
  let content: Content
}
