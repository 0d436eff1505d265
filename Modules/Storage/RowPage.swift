/// A flat, reused buffer of rows: what a backend fills and a cursor walks.
///
/// Full after `rowCapacity` rows or ``fullBytes`` bytes, whichever comes first; one row always
/// fits.
@safe
public struct RowPage: ~Copyable {
  /// The most rows of one page.
  public static let maximumRows = 256
  /// The most rows of a cursor's first page, which has to be cheap for short scans.
  static let firstRows = 128
  /// A page with this many bytes takes no more rows.
  public static let fullBytes = 64 * 1024

  /// The rows held.
  public private(set) var count = 0

  private var rowCapacity: Int
  private var usedBytes = 0
  private var capacityBytes: Int
  // The rows, key then value, packed. Owned by this value, freed once in `deinit`.
  private var bytes: UnsafeMutableRawPointer
  // Two entries a row: where its key ends and where its value ends.
  private var ends: UnsafeMutablePointer<Int>
  private var endsCapacity: Int

  /// An empty page for at most `rowCapacity` rows.
  public init(rowCapacity: Int = maximumRows) {
    precondition(rowCapacity >= 0, "a page's row capacity is not negative")
    self.rowCapacity = min(rowCapacity, Self.maximumRows)
    self.capacityBytes = min(max(self.rowCapacity, 1) * 128, Self.fullBytes)
    self.endsCapacity = max(self.rowCapacity, 1) * 2
    unsafe self.bytes = .allocate(byteCount: capacityBytes, alignment: 16)
    unsafe self.ends = .allocate(capacity: endsCapacity)
  }

  deinit {
    unsafe bytes.deallocate()
    unsafe ends.deallocate()
  }

  /// True when no further row is to be appended.
  public var isFull: Bool { count >= rowCapacity || usedBytes >= Self.fullBytes }

  /// The number of short rows that the page can still take.
  public var freeRows: Int { rowCapacity - count }

  /// Appends a row. Calling it on a full page is a mistake.
  public mutating func append(key: Span<UInt8>, value: Span<UInt8>) {
    precondition(!isFull, "a full page takes no more rows")
    reserve(key.count + value.count)
    append(key)
    unsafe ends[count * 2] = usedBytes
    append(value)
    unsafe ends[count * 2 + 1] = usedBytes
    count += 1
  }

  /// The key of row `row`.
  @_lifetime(borrow self)
  public func key(at row: Int) -> Span<UInt8> {
    precondition(row >= 0 && row < count, "the cursor is on a row")
    let start = row == 0 ? 0 : unsafe ends[row * 2 - 1]
    return unsafe span(start, ends[row * 2])
  }

  /// The value of row `row`.
  @_lifetime(borrow self)
  public func value(at row: Int) -> Span<UInt8> {
    precondition(row >= 0 && row < count, "the cursor is on a row")
    return unsafe span(ends[row * 2], ends[row * 2 + 1])
  }

  /// Forgets all rows and keeps the memory.
  mutating func removeAll(rowCapacity: Int) {
    count = 0
    usedBytes = 0
    self.rowCapacity = min(rowCapacity, Self.maximumRows)
    let wanted = self.rowCapacity * 2
    guard wanted > endsCapacity else { return }
    unsafe ends.deallocate()
    unsafe ends = .allocate(capacity: wanted)
    endsCapacity = wanted
  }

  // Safe: `append` only writes entries below `usedBytes`, which never passes `capacityBytes`.
  @_lifetime(borrow self)
  private func span(_ start: Int, _ end: Int) -> Span<UInt8> {
    let first = unsafe UnsafeRawPointer(bytes + start).assumingMemoryBound(to: UInt8.self)
    let span = unsafe Span(_unsafeStart: first, count: end - start)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  // Safe after `reserve`: the bytes fit behind `usedBytes`.
  private mutating func append(_ part: Span<UInt8>) {
    let target = unsafe bytes + usedBytes
    unsafe part.withUnsafeBytes { source in
      guard let base = source.baseAddress else { return }
      unsafe target.copyMemory(from: base, byteCount: source.count)
    }
    usedBytes += part.count
  }

  private mutating func reserve(_ more: Int) {
    guard usedBytes + more > capacityBytes else { return }
    let wanted = max(usedBytes + more, capacityBytes * 2)
    let grown = UnsafeMutableRawPointer.allocate(byteCount: wanted, alignment: 16)
    unsafe grown.copyMemory(from: bytes, byteCount: usedBytes)
    unsafe bytes.deallocate()
    unsafe bytes = grown
    capacityBytes = wanted
  }
}
