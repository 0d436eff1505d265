import TernCore
import TernLedger

// Large data of databases of other shards.
extension ShardRouter {
  /// Begins to read what is at a path of a database of another shard, piece by piece: the node
  /// there judges the credential of the request again, and as long as it takes.
  ///
  /// - Parameter address: The address of the reader, without a port.
  /// - Returns: `nil` when as many of that shard are under way as may be, or the request cannot be
  ///   passed on.
  func export(
    _ path: TreePath, _ form: TreeNode.JSONForm, for request: DirectRequest, at address: String,
    on server: isolated TernServer, tell: @escaping @Sendable (TreeExport.Event) -> Void
  ) -> TreeExport? {
    var request = request
    request.operation = .review(path)
    let shard = directory.table.shard(of: request.namespace)
    guard let frame = try? DirectFrame(request, RemoteExport.number, in: form).encoded(),
      let remote = exports.begin(
        frame, of: shard, at: address, server.options.limits, uptime: server.uptime, tell: tell)
    else { return nil }
    let client = DirectForwarder.peer(of: request)
    let export = remote.reading()
    leaders.find(shard, at: server) { [links] _, leader in
      switch leader {
      case .success(let address): remote.open(to: address, over: links, for: client)
      case .failure(let missing): remote.fail(missing.reason)
      }
    }
    return export
  }
}
