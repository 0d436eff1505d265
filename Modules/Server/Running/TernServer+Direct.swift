package import TernTransport

extension TernServer {
  /// Returns true when the server runs on the executor of that transport, so that its callbacks
  /// need no hop.
  package nonisolated func lives(on transport: any Transport) -> Bool {
    transport.executor === executor
  }

  /// Asks for something without a session; the answer comes once what it tells of is durable.
  ///
  /// - Parameter answer: Called once, on the server's executor.
  package func ask(
    _ request: DirectRequest, _ answer: @escaping @Sendable (DirectAnswer) -> Void
  ) {
    if let end { return answer(.refused(.unavailable(end.description))) }
    guard askers.count < options.limits.directRequests else {
      let text = "\(options.limits.directRequests) requests wait already."
      return answer(.refused(.unavailable(text)))
    }
    nextTicket += 1
    askers[nextTicket] = answer
    inbox.append(.direct(ticket: nextTicket, request))
    drainSoon()
  }

  /// Reports to all direct requests that no answer will come.
  func refuseAskers(_ reason: String) {
    let waiting = askers.sorted { $0.key < $1.key }
    askers = [:]
    for asker in waiting { asker.value(.refused(.unavailable(reason))) }
  }
}
