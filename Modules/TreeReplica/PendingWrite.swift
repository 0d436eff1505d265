package import TernCore

/// A local write that the server has not answered yet, as the overlay keeps it.
package struct PendingWrite: Sendable {
  package let id: WriteID
  /// The write as it was made, with its server values.
  package let original: TreeWrite
  /// The same with server values replaced by estimates.
  package let write: TreeWrite
  /// `true` if listeners see the write; transactions may hide theirs.
  package let isVisible: Bool

  /// The entries that the server certainly stored once it accepted the write: those without server
  /// values.
  var certain: [TreeMerge.Entry] {
    original.assignments.filter { !$0.node.containsServerValues }
  }
}

/// The server's verdict on a write.
package enum WriteVerdict: Sendable {
  /// Committed. With the write as the server resolved it, if it said so.
  case accepted(resolved: TreeWrite?)
  /// Rejected, or given up by the client; the write never happened.
  case rejected

  /// Committed, and nothing said about server values.
  package static let accepted = WriteVerdict.accepted(resolved: nil)
}
