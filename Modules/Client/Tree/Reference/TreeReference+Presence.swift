public import TernCore
import TernSync

extension TreeReference {
  /// Announces this client here, on every connection, until the task is cancelled.
  ///
  /// On each connection the server is first given the onDisconnect operations: remove what is here,
  /// and set the time at `lastSeen`. Only when it has confirmed them is the value set. It is never
  /// set over a connection that has no such operations, so no announcement outlives its client,
  /// wherever the connection drops.
  ///
  /// ```swift
  /// let presence = Task { try await device.announce(lastSeen: user["seen"]) }
  /// ```
  ///
  /// When the task is cancelled the announcement is taken back, and `lastSeen` gets the time. Of
  /// several announcements that name one location, the last to end does that there; what was
  /// registered with ``onDisconnect`` stays.
  ///
  /// - Parameters:
  ///   - value: The value while this client is here.
  ///   - lastSeen: The location that gets the server's time when the connection ends.
  /// - Throws: ``DisconnectError``; the server denied an operation, or the database was closed.
  public func announce(
    _ value: TreeNode = true, lastSeen: TreeReference? = nil
  ) async throws(DisconnectError) {
    for problem in [problem, lastSeen?.problem] { if let problem { throw .invalid(problem) } }
    do throws(TreeError) {
      try TreeWrite.set(path, value).validateForStoring()
      try lastSeen?.path.validateLength()
    } catch {
      throw .invalid(error)
    }
    let ended = Promise<DisconnectError?>()
    let plan = PresencePlan(path: path, node: value, lastSeen: lastSeen?.path)
    let id = await session.announce(plan) { ended.resolve($0) }
    if let error = await ended.value(ifCancelled: nil) { throw error }
    if let id { await session.leave(id) }
  }
}
