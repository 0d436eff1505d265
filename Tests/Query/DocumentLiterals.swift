public import TernCore

extension DocumentKey: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(unchecked: text) }
}

extension DocumentFieldPath: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) {
    self.init(unchecked: text.split(separator: ".").map(String.init))
  }
}

extension CollectionPath: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(unchecked: text) }
}

extension Document {
  /// A document that exists, of version 1.
  init(_ key: DocumentKey, _ fields: DocumentFields) {
    self.init(key, .found(fields), version: DocumentVersion(microseconds: 1))
  }
}

/// A generator that a seed decides (SplitMix64).
struct DocumentSeed: RandomNumberGenerator {
  var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
