import TernDocumentAuthority
import TernStorage

/// A reader that counts the rows it reads, and ends reads that take too many.
///
/// A large row counts as several: one more for each ``bytesPerRow`` bytes of its value.
final class CountingReader: StoreReader, ReadMemory {
  /// The bytes of a value that take as long to read as a row.
  static let bytesPerRow = 512

  private let base: any StoreReader
  /// Called when so many rows are read as `stop` says; returns the number at which it is called
  /// again, or throws to end the read.
  private let pause: ((CountingReader) throws(StorageError) -> Int)?
  /// Called when the memory of a read that may pause does not suffice.
  private let refused: ((Int) -> Void)?
  private var stop: Int
  private var charge: ReadCharge?
  /// True when a read was ended because it took too many rows.
  private var isExceeded = false
  /// The rows read.
  private(set) var rows = 0
  /// The bytes of their keys and values, single values not among them.
  private(set) var scannedBytes = 0
  /// The memory that is kept of the rows up to `rows` and `scannedBytes`, as the read has told.
  private var told = (memory: 0, rows: 0, scannedBytes: 0)

  /// A reader of `base` that goes on for ever, and may be told to end single reads.
  init(over base: any StoreReader) {
    self.base = base
    pause = nil
    refused = nil
    stop = .max
  }

  /// A reader of `base` that pauses every now and then.
  ///
  /// - Parameters:
  ///   - charge: Holds the memory of the read.
  ///   - stop: The rows before the first pause.
  ///   - refused: Given the bytes that the client may not hold; the read ends.
  ///   - pause: Given the reader; returns the rows at the next pause.
  init(
    over base: any StoreReader, _ charge: ReadCharge, stop: Int,
    refused: @escaping (Int) -> Void,
    pause: @escaping (CountingReader) throws(StorageError) -> Int
  ) {
    self.base = base
    self.charge = charge
    self.stop = stop
    self.refused = refused
    self.pause = pause
  }

  /// Carries out a read.
  ///
  /// - Parameters:
  ///   - most: The most rows.
  ///   - charge: Holds the memory of the read.
  /// - Returns: `nil` when it takes more.
  func read<Value>(
    atMost most: Int, _ charge: ReadCharge?,
    _ body: (any StoreReader) throws(StorageError) -> Value
  ) throws(StorageError) -> Value? {
    let (sum, isHuge) = rows.addingReportingOverflow(most)
    (stop, self.charge, isExceeded) = (isHuge ? .max : sum, charge, false)
    defer { (stop, self.charge) = (.max, nil) }
    do throws(StorageError) {
      let value = try body(self)
      return isExceeded ? nil : value
    } catch {
      if isExceeded { return nil }
      throw error
    }
  }

  func hold(_ bytes: Int) -> Bool { charge?.add(bytes) ?? true }

  func keep(_ bytes: Int) throws(StorageError) {
    if hold(bytes) { return }
    // A read that may pause ends for good; another one begins again beside the executor.
    if let refused { refused(bytes) } else { isExceeded = true }
    throw .abandoned
  }

  /// The bytes of memory that a row is taken to keep until the result is there, beside its own.
  static let memoryPerRow = 256

  /// Notes the rows and their bytes that are kept of everything that was read so far.
  func noteKept(rows: Int, bytes: Int) {
    told = (rows * Self.memoryPerRow + bytes, self.rows, scannedBytes)
  }

  /// The memory that is kept of what was read: all of it, as far as the read has not told less.
  var keptMemory: Int {
    // A row counts once more for each 512 of its bytes, which stands for half of them.
    told.memory + (rows - told.rows) * Self.memoryPerRow + (scannedBytes - told.scannedBytes) / 2
  }

  func withValue<R>(
    for key: Span<UInt8>, _ body: (Span<UInt8>) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    var bytes = 0
    let value = try base.withValue(for: key) { value throws(StorageError) in
      bytes = value.count
      return try body(value)
    }
    try count(1 + bytes / Self.bytesPerRow)
    return value
  }

  func damagedValue(for key: Span<UInt8>) throws(StorageError) -> [UInt8]? {
    try base.damagedValue(for: key)
  }

  func fill(_ page: inout RowPage, from scan: borrowing Scan) throws(StorageError) {
    let before = page.count
    try base.fill(&page, from: scan)
    var bytes = 0
    for row in before..<page.count {
      bytes += page.value(at: row).count
      scannedBytes += page.key(at: row).count
    }
    scannedBytes += bytes
    // An empty range is looked for as well.
    try count(max(1, page.count - before) + bytes / Self.bytesPerRow)
  }

  private func count(_ more: Int) throws(StorageError) {
    rows += more
    if rows <= stop { return }
    if let pause {
      stop = try pause(self)
    } else {
      isExceeded = true
      throw .abandoned
    }
  }
}
