/// A string of the rules file, decoded, that still knows where each of its bytes was written.
struct RulesText: Sendable {
  /// The decoded UTF-8.
  private(set) var bytes: [UInt8] = []
  /// For each decoded byte the offset in the file; one more for the end.
  private(set) var origins: [Int32] = []

  var string: String { String(decoding: bytes, as: UTF8.self) }

  mutating func append(_ byte: UInt8, from offset: Int) {
    bytes.append(byte)
    origins.append(Int32(truncatingIfNeeded: offset))
  }

  mutating func append(_ scalar: Unicode.Scalar, from offset: Int) {
    for byte in UTF8.encode(scalar)! { append(byte, from: offset) }
  }

  mutating func end(at offset: Int) {
    origins.append(Int32(truncatingIfNeeded: offset))
  }

  /// The offset in the file of a decoded byte; the closing quote for what lies past the end.
  func origin(of index: Int) -> Int {
    Int(origins[min(max(index, 0), origins.count - 1)])
  }
}

/// A value of the rules file with the offset of its first character.
struct RulesJSON: Sendable {
  enum Content: Sendable {
    case object([Member])
    case array([RulesJSON])
    case text(RulesText)
    case bool(Bool)
    case number
    case null
  }

  struct Member: Sendable {
    let name: String
    let nameOffset: Int
    let value: RulesJSON
  }

  let offset: Int
  let content: Content
}
