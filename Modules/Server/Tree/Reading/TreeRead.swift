import TernCore
import TernLedger
import TernQuery
import TernStorage
import TernTreeAuthority
import TernTreeRows
import TernTreeWire

/// A node or a query window to read once, and the request that it answers. May run on any thread.
struct TreeRead: Sendable {
  let path: TreePath
  let query: TreeQuery
  let rows: TreeRows
  /// The number of the request.
  let number: UInt64
  /// The most bytes of rows that are kept.
  let readBytes: Int
  /// The most bytes of its text.
  let answerBytes: Int

  /// Returns the frame of the answer; `nil` when the data are too large for one.
  func frame(in reader: any StoreReader) throws(StorageError) -> [UInt8]? {
    let room = TextRoom(of: reader)
    guard let node = try node(in: reader) else { return nil }
    return TreeServerMessage.response(
      number, with: node, limitBytes: answerBytes,
      capacity: room.bytes(isWindow: !query.loadsAllData, limitBytes: answerBytes))
  }

  private func node(in reader: any StoreReader) throws(StorageError) -> TreeNode? {
    if query.loadsAllData {
      return try rows.node(at: path, limitBytes: readBytes, in: Snapshot(reader))
    }
    var window = QueryWindow(query)
    return try window.load(path, of: rows, limitBytes: readBytes, in: reader)
  }
}

extension QueryWindow {
  /// Fills the window, and tells the reader what is kept of its rows; see
  /// ``load(_:of:limitBytes:in:whenKept:)``.
  mutating func load(
    _ path: TreePath, of rows: TreeRows, limitBytes: Int, in reader: any StoreReader
  ) throws(StorageError) -> TreeNode? {
    let counter = reader as? CountingReader
    return try load(path, of: rows, limitBytes: limitBytes, in: Snapshot(reader)) {
      counter?.noteKept(rows: $0, bytes: $1)
    }
  }
}

/// The room for the text of what a read has read.
struct TextRoom {
  private let counter: CountingReader?
  private let bytes: Int
  private let rows: Int

  /// Begins with what is read from now on.
  init(of reader: any StoreReader) {
    counter = reader as? CountingReader
    bytes = counter?.scannedBytes ?? 0
    rows = counter?.rows ?? 0
  }

  /// The signs around a name and a value.
  private static let signs = 6
  /// The most bytes of text that room is reserved for before a window is known.
  private static let windowBytes = 64 << 10

  /// The bytes to reserve; 0 when they are not known.
  ///
  /// - Parameter isWindow: Whether much more may have been read than is shown.
  func bytes(isWindow: Bool, limitBytes: Int) -> Int {
    guard let counter else { return 0 }
    // The text has the names and values of the rows, and some signs around them.
    let capacity = counter.scannedBytes - bytes + Self.signs * (counter.rows - rows)
    return min(capacity, isWindow ? Self.windowBytes : limitBytes)
  }
}

extension TreeResponse {
  /// The rejection of a read whose data are too large for an answer.
  static func tooBig(limitBytes: Int) -> TreeResponse {
    TreeResponse(.tooBig, detail: "The data are larger than \(limitBytes) bytes.")
  }
}
