import TernStorage

/// The time in which a store was served, in milliseconds: the only time that anything expires by.
///
/// It advances while a ledger has the store open, by no more than the clock that is handed in, and
/// by no more than ``LedgerLimits/livedStrideMilliseconds`` from one reading to the next. Clocks
/// that are wrong at a start, jump or stand still make it late, and never early by more than that.
/// Source: Docs/Formats/ledger.md, section 8.
struct LivedTime {
  /// Milliseconds lived so far.
  private(set) var now: Int64
  private var reading: Int64

  /// Goes on behind what is stored.
  ///
  /// - Parameter reading: The clock's, now.
  init(stored: Int64, reading: Int64) {
    now = stored
    self.reading = reading
  }

  /// The lived time when the clock says `reading`.
  mutating func advance(to reading: Int64) -> Int64 {
    let (passed, isOverflow) = reading.subtractingReportingOverflow(self.reading)
    self.reading = reading
    if passed > 0, !isOverflow {
      now += min(passed, LedgerLimits.livedStrideMilliseconds)
    }
    return now
  }

  /// The row that stores it.
  static func row(_ time: Int64) -> Row {
    var writer = ByteWriter()
    writer.append(bigEndian: time)
    return Row(key: LedgerKey.lived, value: writer.bytes)
  }

  /// The latest time that is stored; 0 in a new store, and in one of an earlier format.
  ///
  /// A record that cannot be read makes the time late, which does no harm.
  static func stored(
    in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> Int64 {
    let row = try ignoringDamage { () throws(StorageError) in try view.get(LedgerKey.lived) }
    let batch = try ignoringDamage { () throws(StorageError) in
      try view.scan(Journal.range, isReversed: true, limit: 1).first?.value
    }
    let times = [row, batch].compactMap { bytes -> Int64? in
      guard let bytes else { return nil }
      var reader = ByteReader(bytes)
      return reader.bigEndian(Int64.self)
    }
    return times.filter { (0..<LedgerLimits.wallClockBegins).contains($0) }.max() ?? 0
  }

  private static func ignoringDamage(
    _ read: () throws(StorageError) -> [UInt8]?
  ) throws(StorageError) -> [UInt8]? {
    do throws(StorageError) { return try read() } catch {
      guard error.isCorruption else { throw error }
      return nil
    }
  }
}

extension Duration {
  var milliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }
}
