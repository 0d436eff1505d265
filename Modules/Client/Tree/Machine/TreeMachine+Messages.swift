import TernCore
import TernSync
import TernTreeReplica
import TernTreeWire

// The server's messages, each taken to where it belongs.

extension TreeMachine {
  /// Takes the frames of one read, in order; the cache is stored once for all of them.
  package mutating func received(_ frames: [[UInt8]], on link: Int) {
    guard isCurrentLink(link) else { return }
    connectionEvent(.received(link))
    for frame in frames where isCurrentLink(link) {
      do throws(WireError) {
        receive(try TreeServerMessage.decode(frame), on: link)
      } catch {
        connectionEvent(.failed)
      }
    }
  }

  private mutating func receive(_ message: TreeServerMessage, on link: Int) {
    switch message {
    case .handshake(let handshake): greeted(handshake, on: link)
    case .inquiry: inquired(on: link)
    case .redirect: connectionEvent(.redirected)
    case .shutdown(let reason):
      exchange.channel.notice(.serverSays(reason.isEmpty ? "it takes no connections" : reason))
      connectionEvent(.interrupt(.serverShutdown))
    case .response(let number, let response): answered(number, response)
    case .put(let push):
      apply(.overwrite(push.path, push.content), tag: push.tag)
    case .merge(let push):
      apply(.merge(push.path, push.content.entries), tag: push.tag)
    case .rangeMerge(let push):
      apply(.rangeMerge(push.path, push.content), tag: push.tag)
    case .listenRevoked(let path, let query, let status, let detail):
      let text = detail.isEmpty ? "Permission denied" : detail
      let rejection = Rejection(status: status.rawValue, detail: text)
      exchange.views.revoke(path, query, rejection, &exchange.channel)
    case .authRevoked(_, let detail):
      // The server closes the connection after that.
      exchange.channel.credentialEnded(detail)
      connectionEvent(.redirected)
    case .fatal: connectionEvent(.failed)
    case .error(let text): exchange.channel.notice(.serverSays(text))
    case .pong, .appCheckRevoked, .trace, .unknown: break
    }
  }

  /// The server does not know whether this link or another one is the last: this one is.
  private mutating func inquired(on link: Int) {
    guard exchange.channel.connection.isGreeting(link) else { return connectionEvent(.failed) }
    greet()
  }

  private mutating func greeted(_ handshake: TreeHandshake, on link: Int) {
    exchange.channel.greeted(handshake)
    exchange.writes.greeted(
      handshake.lastSequence, announced: exchange.channel.announcedClient)
    connectionEvent(.greeted(link))
  }

  /// Takes in a push; the listeners hear it, and transactions that depend on it run again.
  private mutating func apply(_ change: ServerChange, tag: Int64?) {
    exchange.perform(exchange.views.replica.applyServer(change, tag: tag.map(Int.init)))
    transactions.rerun(at: change.path, &exchange)
  }
}

// MARK: - Answers

extension TreeMachine {
  private mutating func answered(_ number: UInt64, _ response: TreeResponse) {
    guard let about = exchange.channel.answered(number) else { return }
    do throws(WireError) {
      try take(response, to: number, about)
      exchange.sendReady()
    } catch {
      connectionEvent(.failed)
    }
  }

  private mutating func take(
    _ response: TreeResponse, to number: UInt64, _ about: TreeRequestSubject
  ) throws(WireError) {
    let status = response.status
    let detail = response.detail
    let rejection = status == .ok ? nil : Rejection(status: status.rawValue, detail: detail)
    // No verdict on the request, which is to be sent again.
    let saysNothing = status == .unavailable
    switch about {
    case .listen(let request):
      if saysNothing {
        return exchange.views.postpone(number, because: detail, &exchange.channel)
      }
      let isUnindexed = status == .ok && response.warnings.contains(TreeResponse.noIndex)
      exchange.views.answered(
        number, request, rejection: rejection, isUnindexed: isUnindexed, &exchange.channel)
    case .unlisten(let request):
      if saysNothing {
        return exchange.views.postponeStop(request, because: detail, &exchange.channel)
      }
      exchange.views.replica.stopAnswered(request)
    case .write(let id):
      if saysNothing { return rest(.write(id), because: detail) }
      if status == .gap {
        if exchange.outbox.restBehind(.write(id)) { return }
        return connectionEvent(.failed)
      }
      exchange.outbox.taken()
      exchange.decided(id, rejection: rejection, &transactions)
    case .batch(let id):
      if saysNothing { return rest(.batch(id), because: detail) }
      if status == .gap, exchange.outbox.restBehind(.batch(id)) { return }
      exchange.outbox.taken()
      transactions.batchAnswered(id, status, detail: detail, &exchange)
    case .read(let id):
      let result: Result<TreeNode, Rejection> =
        if let rejection { .failure(rejection) } else { .success(try response.node()) }
      reads.answered(id, result, &exchange)
    case .disconnect(let id): answered(disconnect: id, rejection)
    case .presence(let id):
      if saysNothing { return rest(presence: id, because: detail) }
      presence.answered(id, rejection: rejection, &exchange.channel)
    case .announcement(let id):
      if saysNothing { return rest(presence: id, because: detail) }
      presence.announced(id, rejection: rejection, &exchange.channel)
    case .departure(let id):
      switch presence.departed(id, isPostponed: saysNothing) {
      case .none: break
      case .rest: exchange.outbox.rest(because: detail, &exchange.channel)
      case .leave: connectionEvent(.failed)
      }
    case .outcomes(let stream, let last):
      let outcomes = try response.outcomes()
      exchange.outcomesAnswered(outcomes, of: stream, through: last, &transactions)
    case .transactionOutcomes(let id):
      transactions.outcomesAnswered(id, try response.outcomes(), &exchange)
    case .credential(let token):
      if saysNothing { return connectionEvent(.failed) }
      if exchange.channel.credentialAnswered(token, response) { return sendAllWaiting() }
      if exchange.channel.isLeftToFormerUser { connectionEvent(.redirected) }
    case .signOut:
      // Whatever the server says instead, it may still take this link for the former user's.
      guard status == .ok else { return connectionEvent(.failed) }
      if exchange.channel.signOutConfirmed() { sendAllWaiting() }
    }
  }

  private mutating func answered(disconnect id: OperationID, _ rejection: Rejection?) {
    guard let request = exchange.outbox.answered(disconnect: id) else { return }
    if rejection == nil { presence.registered(request, &exchange.channel) }
    exchange.channel.emit(.disconnectAnswered(id, rejection.map { .rejected($0) }))
  }

  private mutating func rest(_ item: SendOrder.Item, because detail: String) {
    exchange.outbox.rest(item, because: detail, &exchange.channel)
  }

  private mutating func rest(presence id: OperationID, because detail: String) {
    presence.rest(id)
    exchange.outbox.rest(because: detail, &exchange.channel)
  }
}
