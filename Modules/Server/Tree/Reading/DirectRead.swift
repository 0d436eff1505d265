import TernCore
import TernLedger
import TernQuery
import TernStorage
import TernTreeAuthority
import TernTreeRows

/// The data of a request without a session. May be read on any thread.
struct DirectRead: Sendable {
  /// The data to read.
  enum Subject: Sendable {
    /// The result of a query.
    case query(TreeQuery)
    /// A whole node, unless it is so large that it is to be read piece by piece.
    case nodeOrWord
    /// The names of the children behind one, and the number that was asked for.
    case names(after: TreeKey?, limit: Int?)
    /// The node over which a conditional write was not made.
    case stale
  }

  let path: TreePath
  let subject: Subject
  let rows: TreeRows
  /// The most bytes of rows that are kept.
  let readBytes: Int
  /// The most bytes of an answer of names.
  let answerBytes: Int

  /// The query that rules see.
  var query: TreeQuery {
    switch subject {
    case .query(let query): query
    case .nodeOrWord, .stale: .all
    // Rules see what is asked for: keys, in their order, from one on, and so many of them.
    case .names(let previous, let limit):
      TreeQuery(
        order: .key, start: previous.map { TreeBound(.string($0.text), isInclusive: false) },
        limit: limit.map { TreeLimit(.first, $0) })
    }
  }

  /// True when what is read is kept; of children whose names are read, only these are.
  var chargesRows: Bool {
    if case .names = subject { return false }
    return true
  }

  /// Returns the answer, and about how many bytes of memory it takes.
  func answer(in reader: any StoreReader) throws(StorageError) -> (DirectAnswer, bytes: Int) {
    var size = NodeSize()
    switch subject {
    case .names(let previous, let limit): return try names(previous, limit, in: reader)
    case .query(let query) where !query.loadsAllData:
      var window = QueryWindow(query)
      let node = try window.load(
        path, of: rows, limitBytes: readBytes, in: Snapshot(reader)
      ) { rows, bytes in
        (reader as? CountingReader)?.noteKept(rows: rows, bytes: bytes)
        size = NodeSize(rows: rows, bytes: bytes)
      }
      guard let node else { return (tooBig, 0) }
      return (.node(node), size.memory)
    case .query, .nodeOrWord, .stale:
      let found = try rows.node(
        at: path, limitBytes: readBytes, size: &size, in: Snapshot(reader))
      switch (found, subject) {
      case (let node?, .stale): return (.stale(node), size.memory)
      case (let node?, _): return (.node(node), size.memory)
      case (nil, .nodeOrWord): return (.large, 0)
      case (nil, _): return (tooBig, 0)
      }
    }
  }

  private var tooBig: DirectAnswer { .refused(.tooBig(limitBytes: readBytes)) }

  private func names(
    _ previous: TreeKey?, _ limit: Int?, in reader: any StoreReader
  ) throws(StorageError) -> (DirectAnswer, bytes: Int) {
    if let leaf = try rows.scalar(at: path, in: Snapshot(reader)) {
      return (.node(TreeNode(leaf)), 0)
    }
    let most = min(limit ?? .max, answerBytes / Self.bytesPerName)
    let names = try rows.childKeys(of: path, after: previous, limit: most, in: Snapshot(reader))
    if names.count == most, most < limit ?? .max {
      return (.refused(.tooBig(limitBytes: answerBytes)), 0)
    }
    return (.names(names), names.count * Self.memoryPerName)
  }

  /// The bytes that a short name takes in an answer, with its separators.
  private static let bytesPerName = 16
  /// The memory of a name.
  private static let memoryPerName = 64
}

extension NodeSize {
  /// The memory of a node with so many rows, in bytes.
  fileprivate var memory: Int { rows * CountingReader.memoryPerRow + bytes }
}

extension ReadJob {
  /// The answer that a read for a request without a session ends with.
  var directAnswer: DirectAnswer {
    switch outcome {
    case .value(let value)?: value.value as? DirectAnswer ?? Self.unreadable
    case .rejected(let reason)?: .refused(reason.refusal)
    // Damage is told as such; other failures of a store are those of the moment.
    case .failed(let error)? where error.isCorruption: .refused(.damaged)
    case .failed?, nil: Self.unreadable
    }
  }

  private static var unreadable: DirectAnswer {
    .refused(.unavailable("The data cannot be read now. Try again."))
  }
}
