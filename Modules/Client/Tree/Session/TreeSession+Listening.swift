package import TernCore
package import TernQuery
package import TernTreeReplica

/// The receiver of one registration's events.
struct Listener: Sendable {
  let heard: @Sendable (TreeEvent) -> Void
  let ended: @Sendable (ListenError) -> Void
}

extension TreeSession {
  /// Registers a listener; it hears what is known before this returns.
  ///
  /// Both closures run on the session and must not wait. Events come in one order for all
  /// listeners, none after ``unlisten(_:)``; `ended` is called at most once, and is then the last.
  package func listen(
    at path: TreePath, query: TreeQuery, for kinds: EventKinds,
    heard: @escaping @Sendable (TreeEvent) -> Void,
    ended: @escaping @Sendable (ListenError) -> Void
  ) -> ListenerID? {
    drain()
    guard !isClosed else {
      ended(.closed)
      return nil
    }
    do throws(TreeError) { try path.validateLength() } catch {
      ended(.invalid(error))
      return nil
    }
    let id = machine.listen(at: path, query: query, for: kinds)
    listeners[id] = Listener(heard: heard, ended: ended)
    carryOut()
    return id
  }

  /// Ends a listener; it hears nothing after this.
  package func unlisten(_ id: ListenerID) {
    drain()
    guard listeners.removeValue(forKey: id) != nil else { return }
    machine.unlisten(id)
    carryOut()
  }

  /// Keeps a query in sync without a listener, or no longer.
  package func keepSynced(_ isKept: Bool, at path: TreePath, query: TreeQuery) {
    drain()
    guard !isClosed else { return }
    machine.keepSynced(isKept, at: path, query: query)
    carryOut()
  }

  func deliver(_ events: [TreeEvent], _ tree: ListenerID.Tree) {
    for event in events {
      let id = ListenerID(tree: tree, registration: event.registration)
      if !tellValue(event, of: id) { listeners[id]?.heard(event) }
    }
  }

  func cancel(_ id: ListenerID, _ error: ListenError) {
    snapshots[id] = nil
    values.remove(id)
    listeners.removeValue(forKey: id)?.ended(error)
  }
}
