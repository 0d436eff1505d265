public import TernCore
import TernSync
import TernTreeReplica

/// Writes at a place that the server carries out when this client's connection ends, for whatever
/// reason.
///
/// They hold for one connection: register them again on every reconnect, and before writing that
/// the user is here. Every call returns when the server has it; a cancelled task stops waiting at
/// once, and the registration goes on.
///
/// The server carries out every operation once. A connection can end before the answer to a call
/// has arrived; the call is then made again on the next one, and its operation is carried out for
/// each of the two. That is the same for values, but not for an increment: register one only where
/// a count may be too high, or count what is there instead.
public struct OnDisconnect: Sendable {
  let reference: TreeReference

  /// Replaces everything at and below the place.
  public func set(
    _ node: TreeNode, priority: TreeScalar? = nil
  ) async throws(DisconnectError) {
    let node = priority == nil ? node : node.withPriority(priority)
    try await ask(.write(.set(reference.path, node)))
  }

  /// Replaces what is at several paths below the place, all or none.
  public func update(_ values: [String: TreeNode]) async throws(DisconnectError) {
    let merge: TreeMerge
    do throws(TreeError) {
      var entries: [TreeMerge.Entry] = []
      for (text, node) in values {
        entries.append(TreeMerge.Entry(path: try TreePath(writable: text), node: node))
      }
      merge = try TreeMerge(entries)
    } catch {
      throw .invalid(error)
    }
    try await ask(.write(.merge(reference.path, merge)))
  }

  /// Removes everything at and below the place.
  public func remove() async throws(DisconnectError) { try await set(.empty) }

  /// Takes back what was registered at and below the place.
  public func cancel() async throws(DisconnectError) { try await ask(.cancel(reference.path)) }

  private func ask(_ verb: DeferredWrite) async throws(DisconnectError) {
    if let problem = reference.problem { throw .invalid(problem) }
    if case .write(let write) = verb {
      do throws(TreeError) { try write.validateForStoring() } catch { throw .invalid(error) }
    }
    let promise = Promise<Result<Void, DisconnectError>>()
    await reference.session.deferWrite(verb) { promise.resolve($0) }
    if case .failure(let error) = await promise.value(ifCancelled: .failure(.cancelled)) {
      throw error
    }
  }
}

extension TreeReference {
  /// The operations at this path for the end of this client's connection.
  public var onDisconnect: OnDisconnect { OnDisconnect(reference: self) }
}
