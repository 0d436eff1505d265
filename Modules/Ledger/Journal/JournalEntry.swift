import TernStorage

/// The journal's record of one commit. Source: Docs/Formats/ledger.md, section 4.
struct JournalEntry: Equatable {
  var claim: IdempotencyKey?
  var version: Version
  var outcome: [UInt8]
  var mutations: [Mutation]

  private static let named: UInt8 = 1
  private static let put: UInt8 = 0
  private static let removeRange: UInt8 = 1
  private static let removeTail: UInt8 = 2

  /// Appends what has to be known of a commit to make its effects again.
  static func append(_ commit: Commit, _ version: Version, to writer: inout ByteWriter) {
    writer.append(commit.claim == nil ? 0 : named)
    if let claim = commit.claim {
      writer.append(bigEndian: claim.id.stream)
      writer.append(variable: claim.id.sequence)
      writer.append(bigEndian: claim.payloadHash)
      writer.append(variable: claim.acknowledged)
      writer.append(variable: version)
      writer.append(counted: commit.outcome)
    }
    writer.append(variable: UInt64(commit.mutations.count))
    for mutation in commit.mutations { append(mutation, to: &writer) }
  }

  /// Decodes the time of a batch, in milliseconds of lived time, and its entries; `nil` when the
  /// bytes of its row are invalid.
  static func batch(_ bytes: [UInt8]) -> (time: Int64, entries: [JournalEntry])? {
    var reader = ByteReader(bytes)
    guard let time = reader.bigEndian(Int64.self) else { return nil }
    var entries: [JournalEntry] = []
    while !reader.isAtEnd {
      guard let entry = JournalEntry(from: &reader) else { return nil }
      entries.append(entry)
    }
    return (time, entries)
  }

  /// Decodes an entry; `nil` when the bytes are invalid.
  init?(from reader: inout ByteReader) {
    guard let kind = reader.byte(), kind <= Self.named else { return nil }
    (version, outcome, mutations) = (0, [], [])
    if kind == Self.named {
      guard let stream = reader.bigEndian(UInt128.self), let sequence = reader.variable(),
        let hash = reader.bigEndian(UInt64.self), let acknowledged = reader.variable(),
        let version = reader.variable(), let outcome = reader.counted()
      else { return nil }
      claim = IdempotencyKey(
        id: CommitID(stream: stream, sequence: sequence), payloadHash: hash,
        acknowledged: acknowledged)
      (self.version, self.outcome) = (version, outcome)
    }
    guard let count = reader.variable() else { return nil }
    for _ in 0..<count {
      guard let mutation = Self.mutation(from: &reader) else { return nil }
      mutations.append(mutation)
    }
  }

  private static func append(_ mutation: Mutation, to writer: inout ByteWriter) {
    switch mutation {
    case .put(let key, let value):
      writer.append(put)
      writer.append(counted: key)
      writer.append(counted: value)
    case .remove(let range):
      writer.append(range.upper == nil ? removeTail : removeRange)
      writer.append(counted: range.lower)
      if let upper = range.upper { writer.append(counted: upper) }
    }
  }

  private static func mutation(from reader: inout ByteReader) -> Mutation? {
    guard let kind = reader.byte(), let first = reader.counted() else { return nil }
    if kind == removeTail { return .remove(KeyRange(from: first)) }
    guard let second = reader.counted() else { return nil }
    switch kind {
    case put: return .put(key: first, value: second)
    case removeRange: return .remove(KeyRange(from: first, to: second))
    default: return nil
    }
  }
}
