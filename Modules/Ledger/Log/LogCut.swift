import TernStorage

/// Cuts off the beginning of a log where it exceeds a limit: commits, bytes, and when asked to,
/// age.
///
/// The cost is that of what is cut off. By count a quarter goes at a time, by bytes a sixteenth,
/// so that one removal serves many commits.
struct LogCut {
  private let options: LedgerOptions
  private let now: Int64
  private let isByAge: Bool

  /// - Parameter now: The lived time in milliseconds.
  init(_ options: LedgerOptions, now: Int64, byAge isByAge: Bool = false) {
    self.options = options
    self.now = now
    self.isByAge = isByAge
  }

  /// Cuts off what is too much.
  ///
  /// - Returns: Whether nothing is left to do; what is too old may take several cuts.
  func cut(
    _ log: inout LogBounds, in transaction: inout WriteTransaction
  ) throws(StorageError) -> Bool {
    guard log.first > 0, log.first <= log.last else { return true }
    var (next, isDone) = (log.first, true)
    if log.last - log.first >= options.logLimit + options.logLimit / 4 {
      next = try Self.segment(holding: log.last - options.logLimit + 1, in: transaction) ?? next
    }
    let isLong = log.bytes > options.logBytes
    if isLong || isByAge { isDone = try walk(from: &next, log, isLong, in: transaction) }
    try Self.remove(before: next, &log, in: &transaction)
    return isDone
  }

  /// Cuts off all but the last `count` commits; 0 cuts off everything.
  static func keep(
    last count: UInt64, of log: inout LogBounds, in transaction: inout WriteTransaction
  ) throws(StorageError) {
    guard log.first > 0, log.first <= log.last else { return }
    var next = log.last + 1
    if count > 0 {
      let first = log.last > count ? log.last - count + 1 : 1
      next = try segment(holding: max(first, log.first), in: transaction) ?? log.first
    }
    try remove(before: next, &log, in: &transaction)
  }

  /// Moves `next` behind the segments that are too much.
  private func walk(
    from next: inout Version, _ log: LogBounds, _ isLong: Bool,
    in transaction: borrowing WriteTransaction
  ) throws(StorageError) -> Bool {
    let target = options.logBytes - options.logBytes / 16
    let limit = now - options.logAge.milliseconds
    var (count, start) = (0, UInt64?.none)
    while next <= log.last {
      guard let head = try Self.head(at: next, in: transaction) else { return true }
      let end = next + head.count
      // A segment of an earlier format does not say how old it is.
      let isOld = isByAge && (head.lived ?? .min) <= limit
      let isSurplus = isLong && log.writtenBytes - head.before > target && end <= log.last
      guard isOld || isSurplus else { return true }
      let begin = start ?? head.before
      start = begin
      if !isSurplus,
        count >= LedgerLimits.segmentsPerCut || head.before - begin > LedgerLimits.bytesPerCut
      {
        return false
      }
      next = end
      count += 1
    }
    return true
  }

  /// Removes the segments before the one that begins with `next`. Where nothing is left, an empty
  /// segment says which commit is the next.
  private static func remove(
    before next: Version, _ log: inout LogBounds, in transaction: inout WriteTransaction
  ) throws(StorageError) {
    if next <= log.first { return }
    try transaction.remove(in: KeyRange(from: LogSegment.key(0), to: LogSegment.key(next)))
    log.first = next
    if next <= log.last {
      log.droppedBytes = try head(at: next, in: transaction)?.before ?? log.droppedBytes
      return
    }
    log.droppedBytes = log.writtenBytes
    let mark = LogSegment(first: next, lived: 0, before: log.writtenBytes)
    try mark.forEachRow { row throws(StorageError) in
      try transaction.put(row.value, for: row.key)
    }
  }

  /// The first version of the segment that holds `version`.
  private static func segment(
    holding version: Version, in transaction: borrowing WriteTransaction
  ) throws(StorageError) -> Version? {
    let range = KeyRange(from: LogSegment.key(0), to: LogSegment.key(version, piece: .max))
    return try transaction.scan(range, isReversed: true, limit: 1).first.flatMap {
      LogSegment.first(ofKey: $0.key)
    }
  }

  private static func head(
    at first: Version, in transaction: borrowing WriteTransaction
  ) throws(StorageError) -> LogSegment.Head? {
    do throws(StorageError) {
      guard let row = try transaction.get(LogSegment.key(first)) else { return nil }
      var reader = ByteReader(row)
      return LogSegment.Head(from: &reader)
    } catch {
      // Who needs the damaged row is told.
      guard error.isCorruption else { throw error }
      return nil
    }
  }
}
