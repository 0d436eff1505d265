public import TernStorage

/// Two stores that get the same work; every answer of the second is compared with the first's.
///
/// Every transaction runs on both, within each other. Answers come from the first store, so that a
/// caller goes on the same way whatever the second one says. Errors of either store are thrown.
public final class MirrorStore: OrderedStore {
  private let first: any OrderedStore
  private let second: any OrderedStore
  private let onDifference: @Sendable (String) -> Void

  /// - Parameters:
  ///   - first: The store whose answers are given.
  ///   - second: The store that has to agree.
  ///   - onDifference: Called with what differs.
  public init(
    _ first: any OrderedStore, _ second: any OrderedStore,
    onDifference: @escaping @Sendable (String) -> Void
  ) {
    self.first = first
    self.second = second
    self.onDifference = onDifference
  }

  public func read<R>(
    _ body: (borrowing Snapshot) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try first.read { one throws(StorageError) in
      try second.readThrough(
        { [onDifference] in MirrorReader(one.reader, $0, onDifference) }, body)
    }
  }

  public func write<R>(
    _ body: (inout WriteTransaction) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try first.write { one throws(StorageError) in
      try second.writeThrough(
        { [onDifference] in MirrorWriter(one.writer, $0, onDifference) }, body)
    }
  }

  public func wipe() throws(StorageError) {
    try first.wipe()
    try second.wipe()
  }

  public func compact() throws(StorageError) {
    try first.compact()
    try second.compact()
  }

  /// Examines the files of the first store, and at their end all of the second's, whose findings
  /// are differences.
  public func inspectFiles(
    _ inspection: inout StoreInspection, bytes: Int
  ) throws(StorageError) {
    try first.inspectFiles(&inspection, bytes: bytes)
    guard case .rows = inspection.stage else { return }
    var other = StoreInspection(isThorough: inspection.isThorough)
    while case .files = other.stage { try second.inspectFiles(&other, bytes: bytes) }
    for corruption in other.found { onDifference("files: \(corruption)") }
  }

  public var isOldFormat: Bool { first.isOldFormat || second.isOldFormat }

  public func close() {
    first.close()
    second.close()
  }
}

/// Comparisons copy values, so a mirrored store is slow.
private class MirrorReader: StoreReader {
  private let one: any StoreReader
  private let other: any StoreReader
  private let onDifference: @Sendable (String) -> Void

  init(
    _ one: any StoreReader, _ other: any StoreReader,
    _ onDifference: @escaping @Sendable (String) -> Void
  ) {
    self.one = one
    self.other = other
    self.onDifference = onDifference
  }

  final func withValue<R>(
    for key: Span<UInt8>, _ body: (Span<UInt8>) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    let expected = try other.withValue(for: key) { value throws(StorageError) in
      [UInt8](copying: value)
    }
    let given = try one.withValue(for: key) { value throws(StorageError) in
      [UInt8](copying: value)
    }
    if expected != given {
      onDifference("get \([UInt8](copying: key)): \(given as Any) and \(expected as Any)")
    }
    return try one.withValue(for: key, body)
  }

  final func fill(_ page: inout RowPage, from scan: borrowing Scan) throws(StorageError) {
    let before = page.count
    var expected = RowPage(rowCapacity: page.freeRows)
    try one.fill(&page, from: scan)
    try other.fill(&expected, from: scan)
    let count = page.count - before
    guard count == expected.count else {
      return onDifference("scan \(scan.range): \(count) and \(expected.count) rows")
    }
    for row in 0..<count {
      let isEqual =
        compareBytes(page.key(at: before + row), expected.key(at: row)) == 0
        && compareBytes(page.value(at: before + row), expected.value(at: row)) == 0
      if !isEqual { onDifference("scan \(scan.range): row \(row) differs") }
    }
  }
}

/// Each change is made in both transactions.
private final class MirrorWriter: MirrorReader, StoreWriter {
  private let one: any StoreWriter
  private let other: any StoreWriter

  init(
    _ one: any StoreWriter, _ other: any StoreWriter,
    _ onDifference: @escaping @Sendable (String) -> Void
  ) {
    self.one = one
    self.other = other
    super.init(one, other, onDifference)
  }

  func put(_ value: Span<UInt8>, for key: Span<UInt8>) throws(StorageError) {
    try one.put(value, for: key)
    try other.put(value, for: key)
  }

  func remove(_ range: KeyRange) throws(StorageError) {
    try one.remove(range)
    try other.remove(range)
  }

  func remove(_ key: Span<UInt8>) throws(StorageError) {
    try one.remove(key)
    try other.remove(key)
  }
}
