import TernCore
import TernSync
import TernTreeReplica
import TernTreeWire

/// An onDisconnect operation that the server has not answered yet.
struct DisconnectRequest: Sendable {
  enum Verb: Sendable {
    case write(TreeWrite)
    case cancel(TreePath)
  }

  /// The user who asked; no other user's credential registers it.
  let user: QueueUser
  let verb: Verb

  var message: TreeRequest {
    switch verb {
    case .write(.set(let path, let node)): .onDisconnectSet(path, node)
    case .write(.merge(let path, let merge)): .onDisconnectMerge(path, merge)
    case .cancel(let path): .onDisconnectCancel(path)
    }
  }
}
