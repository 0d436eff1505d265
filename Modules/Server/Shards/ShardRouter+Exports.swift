import Synchronization
import TernCore
import TernLedger

// Large data of databases of other shards.
extension ShardRouter {
  /// Begins to read what is at a path of a database of another shard, piece by piece: the node
  /// there judges the credential of the request again, and as long as it takes.
  ///
  /// - Returns: `nil` when as many are under way as may be, or the request cannot be passed on.
  func export(
    _ path: TreePath, _ form: TreeNode.JSONForm, for request: DirectRequest,
    at server: isolated TernServer, tell: @escaping @Sendable (TreeExport.Event) -> Void
  ) -> TreeExport? {
    var request = request
    request.operation = .review(path)
    guard let frame = try? DirectFrame(request, RemoteExport.number, in: form).encoded(),
      exports.enter(limit: server.options.limits.exports)
    else { return nil }
    let shard = directory.table.shard(of: request.namespace)
    let client = DirectForwarder.peer(of: request)
    let remote = RemoteExport(frame, tell: tell) { [exports] in exports.leave() }
    let export = remote.reading(uptime: server.uptime)
    leaders.find(shard, at: server) { [links] _, leader in
      switch leader {
      case .success(let address): remote.open(to: address, over: links, for: client)
      case .failure(let missing): remote.fail(missing.reason)
      }
    }
    return export
  }
}

/// The number of readings of other shards' data that are under way.
final class RemoteExportCount: Sendable {
  private let count = Mutex(0)

  /// True when nothing is read.
  var isIdle: Bool { count.withLock { $0 == 0 } }

  /// Counts one in; `false`, and not counted, when there are too many.
  func enter(limit: Int) -> Bool {
    count.withLock { count in
      guard count < limit else { return false }
      count += 1
      return true
    }
  }

  /// Counts one out.
  func leave() { count.withLock { $0 -= 1 } }
}
