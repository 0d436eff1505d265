package import TernCore

extension TernServer {
  /// Begins to tell what is at a path, as it is now: after everything that was carried out, and
  /// before everything that was not.
  ///
  /// Whether it may be read was judged before, by ``DirectRequest/Operation/readOrExport(_:)`` or
  /// a listen.
  ///
  /// Data of another shard come from the node that leads it, which reads them as of a moment later.
  ///
  /// An export whose reader takes nothing gives up its slot to a new one; see
  /// ``ServerLimits/exportStallMilliseconds``.
  ///
  /// - Parameters:
  ///   - address: Where the reader is, without a port.
  ///   - request: Who reads, when no session stands for them: whether they still may is judged
  ///     again whenever the clock ticks.
  ///   - tell: Hears what there is, on a thread of the export's own.
  /// - Returns: `nil` when as many are under way as may be, or the server has stopped.
  package func export(
    _ path: TreePath, _ form: TreeNode.JSONForm, of namespace: String,
    for request: DirectRequest? = nil, at address: String = "",
    tell: @escaping @Sendable (TreeExport.Event) -> Void
  ) -> TreeExport? {
    if refusal != nil { return nil }
    guard places.holds(namespace) else {
      guard let request else { return nil }
      return part.shards?.export(path, form, for: request, at: address, on: self, tell: tell)
    }
    var review = request
    review?.operation = .review(path)
    return exports.begin(path, form, of: namespace, review: review, at: address, tell: tell)
  }
}
