import Synchronization
import TernStorage
import TernStorageMemory

/// Opens a ``FileStore`` for `{"kind": "file", "path": "data"}`.
enum FilePlugin: StoragePlugin {
  struct Options: Decodable, Sendable {
    /// The length past which a file does not grow, in bytes.
    var limitBytes: Int?
  }

  static let kind = "file"

  static func open(
    _ options: Options, at location: StorageLocation
  ) async throws(StorageError) -> any OrderedStore {
    try FileStore(at: location, limitBytes: options.limitBytes)
  }
}

/// A store in memory that writes all its rows to one file at each commit: for few rows.
final class FileStore: OrderedStore {
  private static let file = "rows"
  private static let files = [file, file + ".new"]
  /// The first bytes of the file: its kind and version.
  private static let head = Array("ToyRows1".utf8)

  private enum Condition {
    case open(StoreDirectory)
    case failed
    case closed
  }

  private let rows = MemoryStore()
  private let limitBytes: Int
  private let condition: Mutex<Condition>

  init(at location: StorageLocation, limitBytes: Int?) throws(StorageError) {
    let directory = try StoreDirectory(path: location.folder)
    if directory.isBeingWiped { try directory.finishWipe(of: Self.files) }
    self.limitBytes = limitBytes ?? .max
    condition = Mutex(.open(directory))
    guard let count = directory.bytes(of: Self.file) else { return }
    let found = try Self.decode(directory.head(of: Self.file, bytes: count))
    try rows.write { transaction throws(StorageError) in
      for row in found { try transaction.put(row.value, for: row.key) }
    }
  }

  func read<R>(
    _ body: (borrowing Snapshot) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    _ = try directory()
    return try rows.read(body)
  }

  func write<R>(
    _ body: (inout WriteTransaction) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    try rows.write { transaction throws(StorageError) in
      let directory = try directory()
      let result = try body(&transaction)
      // Durable before it is visible; what this throws undoes the transaction in memory, too.
      let bytes = Self.encode(try transaction.scan())
      let isGrowing = bytes.count > directory.bytes(of: Self.file) ?? 0
      if isGrowing, bytes.count > limitBytes { throw .diskFull }
      try failing { () throws(StorageError) in try directory.replace(Self.file, with: bytes) }
      return result
    }
  }

  func wipe() throws(StorageError) {
    let directory = try directory()
    try failing { () throws(StorageError) in
      try directory.beginWipe()
      try directory.finishWipe(of: Self.files)
    }
    try rows.wipe()
  }

  func close() {
    rows.close()
    condition.withLock { $0 = .closed }
  }

  private func directory() throws(StorageError) -> StoreDirectory {
    switch condition.withLock({ $0 }) {
    case .open(let directory): return directory
    case .failed: throw .failed
    case .closed: throw .closed
    }
  }

  /// After a failed sync nothing is known about the file: the store stops until it is opened again.
  private func failing(_ body: () throws(StorageError) -> Void) throws(StorageError) {
    do throws(StorageError) { try body() } catch {
      if case .syncFailed = error { condition.withLock { $0 = .failed } }
      throw error
    }
  }

  /// The head, then a checksum over the lengths, keys and values of all rows, then these.
  private static func encode(_ rows: [Row]) -> [UInt8] {
    var bytes: [UInt8] = []
    for row in rows {
      for count in [row.key.count, row.value.count] {
        for byte in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: count >> (8 * byte))) }
      }
      bytes += row.key
      bytes += row.value
    }
    return head + RecordChecksum.record(of: bytes, key: head)
  }

  private static func decode(_ file: [UInt8]) throws(StorageError) -> [Row] {
    guard file.starts(with: head),
      let bytes = RecordChecksum.value(of: Array(file.dropFirst(head.count)), key: head)
    else { throw .corruptStore(reason: "\(Self.file) fails its checksum") }
    var rows: [Row] = []
    var start = 0
    func take(_ count: Int) -> [UInt8] {
      defer { start += count }
      return Array(bytes[start..<start + count])
    }
    func count() -> Int { take(4).reversed().reduce(0) { $0 << 8 | Int($1) } }
    while start < bytes.count {
      let (keyCount, valueCount) = (count(), count())
      rows.append(Row(key: take(keyCount), value: take(valueCount)))
    }
    return rows
  }
}
