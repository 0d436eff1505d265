import TernLedger
import TernTransport
import TernTreeWire

// The client of a link: its presence, and the credential that it shows.
extension Forwarder {
  /// Notes a frame of the client, which proves that it is there.
  func noteClient(_ state: LinkState, _ link: ForwardedLink, at server: isolated TernServer) {
    noteRejected(state, link, at: server)
    if link.presence.noteClient() { openAgain(link, state, at: server) }
  }

  /// Notes the credentials that this node has rejected.
  func noteRejected(_ state: LinkState, _ link: ForwardedLink, at server: isolated TernServer) {
    guard let session = server.batches.machine.sessions[state.slot],
      !session.rejectedCredentials.isEmpty
    else { return }
    for number in exchange(&session.rejectedCredentials, with: []) {
      // No write of the former user is to be taken for one of another.
      if !link.routes.noteRejected(number) {
        // Its beginning would show the same credential once more.
        link.isRejected = true
        link.carrier?.close()
      }
    }
  }

  /// Tells the leader that the client is there.
  func openAgain(_ link: ForwardedLink, _ state: LinkState, at server: isolated TernServer) {
    if let opening = beginning(of: link, state, at: server).first { link.carrier?.send(opening) }
    link.carrier?.flush()
  }

  /// Ends a link to the leader because another node is about to lead.
  func handOver(_ link: ForwardedLink) {
    link.isHandedOver = true
    link.carrier?.close()
  }

  /// Notes that a link to the leader is lost, or could not be opened.
  func noteLoss(of link: ForwardedLink, to node: String, _ reason: String, at uptime: Int64) {
    link.noteLost(node, reason, at: uptime)
    // The client's own share of links says nothing about the leader.
    let isRefusedHere = reason == TransportError.tooManyConnections(limit: 0).textWithoutAddress
    if !link.presence.isNodeHeard, !isRefusedHere { reach.noteFailure(at: uptime) }
  }

  /// Lets the client be told of the end of its credential, behind everything that came before.
  ///
  /// - Returns: True if there is something to tell.
  func addCredentialEnd(to link: ForwardedLink) -> Bool {
    guard let end = exchange(&link.credentialEnd, with: nil) else { return false }
    (link.isRejected, link.isEnding, link.leaderLink) = (true, true, nil)
    exchange(&link.carrier, with: nil)?.close()
    link.arrivals.append(ForwardedLink.Arrival(frame: nil, catchUp: 0, credentialEnd: end))
    return true
  }

  /// Ends the session of a client whose credential the leader does not take, as a leader ends that
  /// of a client of its own, which comes back with another one.
  func endCredential(
    _ end: ForwardedLink.CredentialEnd, of state: LinkState, at server: isolated TernServer
  ) {
    let notice = TreeServerMessage.authRevoked(end.status, detail: end.text)
    server.perform([.send(slot: state.slot, notice.encode())])
    server.close(state, .credentialEnded(end.text))
  }

  /// The age of the copy, in milliseconds, beyond which a read waits until it is current, unless
  /// the log is out of reach.
  private static let readAge: Int64 = 5_000

  /// Returns the catch-up that a read waits for: none while the copy is young enough.
  func currentCatchUp(at server: isolated TernServer) -> UInt64 {
    guard let age = ledger.standing.copyAge, age > Self.readAge else { return 0 }
    return waits.request(at: server)
  }
}
