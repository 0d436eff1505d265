import TernStorage

/// The consecutive log entries that were committed together, and how they lie in the store.
///
/// Source: Docs/Formats/ledger.md, section 2.
struct LogSegment {
  /// The number of the first entry.
  let first: Version
  private(set) var count: UInt64 = 0
  private var body = ByteWriter()

  init(first: Version) {
    self.first = first
  }

  mutating func append(_ id: CommitID?, _ record: [UInt8]) {
    count += 1
    if let id {
      body.append(1)
      body.append(bigEndian: id.stream)
      body.append(variable: id.sequence)
    } else {
      body.append(0)
    }
    body.append(counted: record)
  }

  /// The rows of the segment: a long one is cut into several.
  var rows: [Row] {
    var head = ByteWriter()
    head.append(variable: count)
    head.append(body.bytes)
    let bytes = head.bytes
    let starts = stride(from: 0, to: bytes.count, by: LedgerLimits.logRowBytes)
    return starts.enumerated().map { piece, start in
      let end = min(start + LedgerLimits.logRowBytes, bytes.count)
      return Row(key: Self.key(first, piece: UInt16(piece)), value: Array(bytes[start..<end]))
    }
  }

  static func key(_ first: Version, piece: UInt16 = 0) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(LedgerKey.log)
    writer.append(bigEndian: first)
    writer.append(bigEndian: piece)
    return writer.bytes
  }

  /// The number of the first entry of the segment that has a row under `key`.
  static func first(ofKey key: [UInt8]) -> Version? {
    var reader = ByteReader(key, from: 1)
    return reader.bigEndian(Version.self)
  }

  /// How many entries the segment with this first row holds.
  static func count(ofFirstRow value: [UInt8]) -> UInt64? {
    var reader = ByteReader(value)
    return reader.variable()
  }

  /// The entries of the segment whose rows' values, joined, are `bytes`.
  static func entries(first: Version, _ bytes: [UInt8]) -> [LogEntry]? {
    var reader = ByteReader(bytes)
    guard let count = reader.variable() else { return nil }
    var entries: [LogEntry] = []
    for version in first..<first + count {
      guard let isNamed = reader.byte() else { return nil }
      var id: CommitID?
      if isNamed == 1 {
        guard let stream = reader.bigEndian(UInt128.self), let sequence = reader.variable() else {
          return nil
        }
        id = CommitID(stream: stream, sequence: sequence)
      }
      guard let record = reader.counted() else { return nil }
      entries.append(LogEntry(version: version, id: id, record: record))
    }
    return reader.isAtEnd ? entries : nil
  }
}
