import Synchronization
public import TernStorage

/// A store in memory: nothing survives it, snapshots cost nothing.
public final class MemoryStore: OrderedStore {
  private let state = Mutex(State())
  private let writing = Mutex<Void>(())

  private struct State: Sendable {
    var rows = SortedRows()
    var isClosed = false
  }

  public init() {}

  public func read<R>(
    _ body: (borrowing Snapshot) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    let reader: any StoreReader = MemoryReader(try committed())
    return try body(Snapshot(reader))
  }

  public func write<R>(
    _ body: (inout WriteTransaction) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    var result: R?
    try writing.withLock { _ throws(StorageError) in
      let memory = MemoryWriter(try committed())
      let writer: any StoreWriter = memory
      var transaction = WriteTransaction(writer)
      result = try body(&transaction)
      let rows = memory.rows
      state.withLock { $0.rows = rows }
    }
    guard let result else { throw .abandoned }
    return result
  }

  public func close() {
    writing.withLock { _ in state.withLock { $0.isClosed = true } }
  }

  private func committed() throws(StorageError) -> SortedRows {
    let (rows, isClosed) = state.withLock { ($0.rows, $0.isClosed) }
    if isClosed { throw .closed }
    return rows
  }
}

class MemoryReader: StoreReader {
  var rows: SortedRows

  init(_ rows: SortedRows) { self.rows = rows }

  func withValue<R>(
    for key: Span<UInt8>, _ body: (Span<UInt8>) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    let index = rows.lowerBound(key)
    guard rows.holds(key, at: index) else { return nil }
    let value = rows.values[index]
    return try body(value.span)
  }

  func fill(_ page: inout RowPage, from scan: borrowing Scan) throws(StorageError) {
    let bounds = rows.bounds(scan.range)
    for step in 0..<bounds.count where !page.isFull {
      let index = scan.isReversed ? bounds.upperBound - 1 - step : bounds.lowerBound + step
      let key = rows.keys[index]
      let value = rows.values[index]
      page.append(key: key.span, value: value.span)
    }
  }
}

final class MemoryWriter: MemoryReader, StoreWriter {
  func put(_ value: Span<UInt8>, for key: Span<UInt8>) {
    let index = rows.lowerBound(key)
    if rows.holds(key, at: index) {
      rows.values[index] = [UInt8](copying: value)
    } else {
      rows.keys.insert([UInt8](copying: key), at: index)
      rows.values.insert([UInt8](copying: value), at: index)
    }
  }

  func remove(_ range: KeyRange) {
    let bounds = rows.bounds(range)
    rows.keys.removeSubrange(bounds)
    rows.values.removeSubrange(bounds)
  }
}

/// The rows of a store as two parallel arrays in key order.
struct SortedRows: Sendable {
  var keys: [[UInt8]] = []
  var values: [[UInt8]] = []

  /// The index of the first key that is not before `key`.
  func lowerBound(_ key: Span<UInt8>) -> Int {
    var low = 0
    var high = keys.count
    while low < high {
      let middle = (low + high) / 2
      let probe = keys[middle]
      if compareBytes(probe.span, key) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }

  func holds(_ key: Span<UInt8>, at index: Int) -> Bool {
    guard index < keys.count else { return false }
    let found = keys[index]
    return compareBytes(found.span, key) == 0
  }

  func bounds(_ range: KeyRange) -> Range<Int> {
    let low = lowerBound(range.lower.span)
    guard let upper = range.upper else { return low..<keys.count }
    return low..<max(low, lowerBound(upper.span))
  }
}
