import TernStorage

/// The consecutive log entries that were committed together, and how they lie in the store.
///
/// Source: Docs/Formats/ledger.md, section 2.
struct LogSegment {
  /// The number of the first entry.
  let first: Version
  private(set) var count: UInt64 = 0
  /// The time of the commit, in milliseconds of lived time.
  private let lived: Int64
  /// The bytes of all segments before it since the log began, those that were cut off included.
  private let before: UInt64
  private var byteCount: UInt64 = UInt64(LedgerLimits.segmentHeadBytes)
  /// Each entry: what stands before its record, and the record as it was given.
  private var entries: [(head: [UInt8], record: [UInt8])] = []

  init(first: Version, lived: Int64 = 0, before: UInt64 = 0) {
    self.first = first
    self.lived = lived
    self.before = before
  }

  /// The bytes of all segments up to and including this one.
  var end: UInt64 { before + (count == 0 ? 0 : byteCount) }

  /// The beginning of a segment's first row.
  struct Head {
    /// The time of the commit; `nil` in segments of format 2 and before.
    var lived: Int64?
    /// The bytes of all segments before it.
    var before: UInt64 = 0
    /// The bytes up to and including it.
    var end: UInt64 = 0
    /// The number of commits; 0 in the place of a log that was cut off as a whole.
    var count: UInt64

    /// A zero, in the place of the number of commits that earlier formats begin with.
    private static let mark: UInt64 = 0

    init(lived: Int64, before: UInt64, end: UInt64, count: UInt64) {
      (self.lived, self.before, self.end, self.count) = (lived, before, end, count)
    }

    /// Reads a head; `nil` when it makes no sense.
    init?(from reader: inout ByteReader) {
      guard let number = reader.variable() else { return nil }
      count = number
      if number != Self.mark { return }
      guard let lived = reader.variable(), let before = reader.variable(),
        let end = reader.variable(), end >= before, let count = reader.variable()
      else { return nil }
      (self.lived, self.before, self.end) = (Int64(clamping: lived), before, end)
      self.count = count
    }

    func append(to writer: inout ByteWriter) {
      for number in [Self.mark, UInt64(max(0, lived ?? 0)), before, end, count] {
        writer.append(variable: number)
      }
    }
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
    byteCount += UInt64(head.bytes.count + record.count)
    entries.append((head.bytes, record))
  }

  /// Visits the rows of the segment, of which a long one has several; one at a time, for records
  /// may be large.
  func forEachRow(_ body: (Row) throws(StorageError) -> Void) throws(StorageError) {
    var piece: UInt16 = 0
    var head = ByteWriter()
    Head(lived: lived, before: before, end: end, count: count).append(to: &head)
    var value = head.bytes
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

  /// The number of the last of `count` entries from `first` on, which is the one before `first`
  /// when there are none; `nil` when there is no such number, or no number for the entry behind it.
  static func last(first: Version, count: UInt64) -> Version? {
    let (end, isOverflow) = first.addingReportingOverflow(count)
    return end == 0 || isOverflow ? nil : end - 1
  }

  /// The entries of the segment whose rows' values, joined, are `bytes`; `nil` when they are none.
  static func entries(first: Version, _ bytes: [UInt8]) -> [LogEntry]? {
    var reader = ByteReader(bytes)
    guard let head = Head(from: &reader), head.count > 0,
      let last = last(first: first, count: head.count)
    else { return nil }
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
