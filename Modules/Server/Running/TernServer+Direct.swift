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
    part.ask(request, at: self, answer)
  }

  /// Decides a request here.
  func decide(
    _ request: DirectRequest, _ answer: @escaping @Sendable (DirectAnswer) -> Void
  ) {
    if let refusal = part.refusal(of: request, at: self) { return answer(.refused(refusal)) }
    if let elsewhere = part.shards?.refusal(of: request) { return answer(.refused(elsewhere)) }
    guard requests.count < options.limits.directRequests else {
      let text = "\(options.limits.directRequests) requests wait already."
      return answer(.refused(.unavailable(text)))
    }
    inbox.append(.direct(ticket: requests.add(at: microseconds(), answer), request))
    drainSoon()
  }
}
