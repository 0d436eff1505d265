import TernLedger

// Requests without a session.
extension Forwarder {
  /// Passes a request without a session on to the leader, or lets it be answered here once the copy
  /// holds all that the log holds now.
  ///
  /// - Returns: False when it is to be answered here at once.
  func takes(
    _ request: DirectRequest, at server: isolated TernServer,
    _ answer: @escaping @Sendable (DirectAnswer) -> Void
  ) -> Bool {
    guard request.operation.isForLeader else {
      guard request.operation.readsForClient else { return false }
      guard waits.actionCount < server.options.limits.directRequests else {
        answer(.refused(.unavailable("\(waits.actionCount) requests wait already.")))
        return true
      }
      waits.perform(at: server) { isCurrent in
        if !isCurrent { return answer(.refused(.unavailable(Self.unreached))) }
        server.assumeIsolated { $0.decide(request, answer) }
      }
      return true
    }
    guard let leader = ledger.standing.leader else {
      answer(.refused(.unavailable("No node leads. Try again.")))
      return true
    }
    direct.forward(request, to: leader, over: links) { result in
      server.assumeIsolated { server in
        guard let forwarder = server.part.forwarder else { return answer(result) }
        // It is done, whether or not this node can show it.
        forwarder.waits.perform(at: server) { _ in answer(result) }
      }
    }
    return true
  }

  private static let unreached = "The shared log is out of reach. Try again."
}
