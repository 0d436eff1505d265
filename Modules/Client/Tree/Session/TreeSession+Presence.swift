import TernSync

extension TreeSession {
  /// Announces this client at a path on every connection, until ``leave(_:)``.
  ///
  /// - Parameter ended: Called at most once, when the server denies it or the session is closed.
  package func announce(
    _ presence: PresencePlan, ended: @escaping @Sendable (DisconnectError) -> Void
  ) -> OperationID? {
    drain()
    guard !isClosed else {
      ended(.closed)
      return nil
    }
    let id = machine.announce(presence)
    presenceEnds[id] = ended
    carryOut()
    return id
  }

  /// Takes an announcement back, if there is a connection; without one the server has done so.
  package func leave(_ id: OperationID) {
    drain()
    guard presenceEnds.removeValue(forKey: id) != nil else { return }
    machine.leave(id)
    carryOut()
  }
}
