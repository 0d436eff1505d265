package import TernCore
package import TernSync

/// The contents of rows in a tree's write queue; see `Docs/Formats/client-store.md`.
package enum WriteRecord: Equatable, Sendable {
  case write(TreeWrite)
  case transaction(DeclaredTransaction)
  /// A transaction given as a closure was waiting here; the closure is gone with its program.
  case closure(TreePath)

  package func encode() -> [UInt8] {
    var bytes: [UInt8] = []
    switch self {
    case .write(.set(let path, let node)):
      bytes.append(1)
      bytes.append(text: path.text)
      bytes.append(contentsOf: node.jsonBytes(.export))
    case .write(.merge(let path, let merge)):
      bytes.append(2)
      bytes.append(text: path.text)
      for entry in merge.entries {
        bytes.append(text: entry.path.text)
        bytes.append(counted: entry.node.jsonBytes(.export))
      }
    case .transaction(let transaction):
      bytes.append(3)
      bytes.append(integer: transaction.stream)
      bytes.append(transaction.appliesLocally ? 1 : 0)
      bytes.append(text: transaction.path.text)
      bytes.append(text: transaction.name)
      bytes.append(contentsOf: transaction.arguments.jsonBytes(.export))
    case .closure(let path):
      bytes.append(4)
      bytes.append(text: path.text)
    }
    return bytes
  }

  /// Reads a record; `nil` when it is none.
  package init?(decoding bytes: [UInt8]) {
    var reader = RecordReader(bytes)
    guard let kind = reader.byte() else { return nil }
    do throws(TreeError) {
      switch kind {
      case 1:
        guard let path = reader.text() else { return nil }
        let node = try TreeNode(json: reader.rest())
        self = .write(.set(try TreePath(writable: path), node))
      case 2:
        guard let write = try Self.merge(&reader) else { return nil }
        self = .write(write)
      case 3:
        guard let transaction = try DeclaredTransaction(&reader) else { return nil }
        self = .transaction(transaction)
      case 4:
        guard let path = reader.text() else { return nil }
        self = .closure(try TreePath(path))
      default:
        return nil
      }
    } catch {
      return nil
    }
  }

  /// A write that changes nothing and only has a number: it stands where a damaged one was.
  package static let filler = WriteRecord.write(.merge(.root, TreeMerge(unchecked: [])))

  /// The records of a queue of the tree.
  package static let records = QueueRecords(
    understands: understands,
    isOfThisVersion: { $0.first.map { (1...4).contains($0) } ?? true },
    filler: filler.encode())

  /// Returns true when this library understands a row of the queue.
  @Sendable package static func understands(_ row: QueuedWrite) -> Bool {
    switch (row.state, WriteRecord(decoding: row.payload)) {
    case (.pending, .write), (.rejected, .write), (.kept, .transaction), (.kept, .closure): true
    case (.pending, _), (.rejected, _), (.kept, _): false
    }
  }

  private static func merge(_ reader: inout RecordReader) throws(TreeError) -> TreeWrite? {
    guard let path = reader.text() else { return nil }
    var entries: [TreeMerge.Entry] = []
    while !reader.isAtEnd {
      guard let part = reader.text(), let json = reader.counted() else { return nil }
      entries.append(
        TreeMerge.Entry(path: try TreePath(writable: part), node: try TreeNode(json: json)))
    }
    return .merge(try TreePath(path), try TreeMerge(entries))
  }
}

/// A transaction given by the name of its update function and its arguments, which survives a
/// restart of the program.
package struct DeclaredTransaction: Equatable, Sendable {
  /// The writer id under which its attempts are numbered, for exactly-once.
  package let stream: UInt128
  package let path: TreePath
  package let name: String
  package let arguments: TreeNode
  package let appliesLocally: Bool
}

extension DeclaredTransaction {
  fileprivate init?(_ reader: inout RecordReader) throws(TreeError) {
    guard let stream: UInt128 = reader.integer(), let flags = reader.byte(),
      let path = reader.text(), let name = reader.text()
    else { return nil }
    self.stream = stream
    self.path = try TreePath(path)
    self.name = name
    arguments = try TreeNode(json: reader.rest())
    appliesLocally = flags & 1 != 0
  }
}
