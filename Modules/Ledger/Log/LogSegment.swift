import TernStorage

/// The consecutive log entries that were committed together, and how they lie in the store.
///
/// Source: Docs/Formats/ledger.md, section 2.
struct LogSegment {
  /// The number of the first entry.
  let first: Version
  private(set) var count: UInt64 = 0
  /// Each entry: what stands before its record, and the record as it was given.
  private var entries: [(head: [UInt8], record: [UInt8])] = []

  init(first: Version) {
    self.first = first
  }

  mutating func append(_ id: CommitID?, _ record: [UInt8]) {
    count += 1
    var head = ByteWriter()
    if let id {
      head.append(1)
      head.append(bigEndian: id.stream)
      head.append(variable: id.sequence)
    } else {
      head.append(0)
    }
    head.append(variable: UInt64(record.count))
    entries.append((head.bytes, record))
  }

  /// Visits the rows of the segment, of which a long one has several; one at a time, for records
  /// may be large.
  func forEachRow(_ body: (Row) throws(StorageError) -> Void) throws(StorageError) {
    var piece: UInt16 = 0
    var count = ByteWriter()
    count.append(variable: self.count)
    var value = count.bytes
    for entry in entries {
      for part in [entry.head, entry.record] {
        var rest = part[...]
        while !rest.isEmpty {
          let room = rest.prefix(LedgerLimits.logRowBytes - value.count)
          value += room
          rest = rest.dropFirst(room.count)
          guard value.count == LedgerLimits.logRowBytes else { continue }
          try body(Row(key: Self.key(first, piece: piece), value: value))
          piece += 1
          value = []
        }
      }
    }
    if !value.isEmpty { try body(Row(key: Self.key(first, piece: piece), value: value)) }
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

  /// The number of the last of `count` entries from `first` on; `nil` when there is no such number,
  /// or no number for the entry behind it.
  static func last(first: Version, count: UInt64) -> Version? {
    let (end, isOverflow) = first.addingReportingOverflow(count)
    return count == 0 || isOverflow ? nil : end - 1
  }

  /// The entries of the segment whose rows' values, joined, are `bytes`; `nil` when they are none.
  static func entries(first: Version, _ bytes: [UInt8]) -> [LogEntry]? {
    var reader = ByteReader(bytes)
    guard let count = reader.variable(), let last = last(first: first, count: count) else {
      return nil
    }
    var entries: [LogEntry] = []
    for version in first...last {
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
