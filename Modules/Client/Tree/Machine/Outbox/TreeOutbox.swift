import TernCore
import TernSync
import TernTreeReplica
import TernTreeWire

/// The ordered requests of the application: writes, conditional writes of transactions, and
/// onDisconnect operations. They are sent in order, with a bounded number of them unanswered.
struct TreeOutbox: Sendable {
  private let limits: TreeMachine.Limits
  private var order = SendOrder()
  /// Active while nothing is sent: the server takes nothing now.
  private var pause = RetryPause()
  /// The onDisconnect operations that the server has not answered.
  private var disconnects: [OperationID: DisconnectRequest] = [:]
  /// The conditional writes that the server has not answered.
  var batches: TransactionBatches

  init(_ limits: TreeMachine.Limits, transactionStream: UInt128) {
    self.limits = limits
    batches = TransactionBatches(stream: transactionStream)
  }

  /// Requests on their way without an answer; at most the window.
  var unansweredCount: Int { order.inFlightCount }

  mutating func append(_ item: SendOrder.Item) { order.append(item) }

  /// Notes that an item was answered or is no longer waited for.
  mutating func answered(_ item: SendOrder.Item) { order.answered(item) }

  /// Forgets the writes and the transactions, sent or not: their user is gone.
  mutating func removeWrites() { order.removeWrites() }

  /// The connection is lost: what was on its way goes again, in the old order.
  mutating func disconnected() {
    order.disconnected()
    pause.end()
  }
}

// MARK: - Sending

extension TreeOutbox {
  /// Sends from the front what may go.
  ///
  /// A write that is not durable yet holds back everything behind it: order is kept.
  mutating func send(_ writes: inout TreeWrites, _ channel: inout TreeChannel) {
    // What was sent behind something that rests is answered first: it goes again in its order.
    guard channel.isReady, !pause.isActive, !order.hasItemsBehindRest else { return }
    order.rested()
    while isWindowOpen, let item = order.next {
      switch item {
      case .write(let id):
        switch writes.request(for: id, announced: channel.announcedClient) {
        case .gone: order.drop()
        case .waits: return
        case .ready(let request): sendNext(request, about: .write(id), &channel)
        }
      case .batch(let id):
        if let request = batches.request(for: id) {
          sendNext(request, about: .batch(id), &channel)
        } else {
          order.drop()
        }
      case .disconnect(let id): sendDisconnect(id, of: writes.user, &channel)
      }
    }
  }

  private mutating func sendDisconnect(
    _ id: OperationID, of user: QueueUser, _ channel: inout TreeChannel
  ) {
    guard let request = disconnects[id] else { return order.drop() }
    guard request.user == user else {
      order.drop()
      disconnects[id] = nil
      return channel.emit(.disconnectAnswered(id, .rejected(.userChanged)))
    }
    sendNext(request.message, about: .disconnect(id), &channel)
  }

  private mutating func sendNext(
    _ request: TreeRequest, about: TreeRequestSubject, _ channel: inout TreeChannel
  ) {
    order.sent(bytes: channel.send(request, about: about).bytes)
  }

  /// True when one more may be on its way.
  private var isWindowOpen: Bool {
    order.inFlightCount < limits.window && order.inFlightBytes < limits.windowBytes
  }
}

// MARK: - Pauses

extension TreeOutbox {
  /// The server said nothing about an item but that it cannot take it now, as with a full disk: it
  /// goes again after a rest, over the same connection, and so does all behind it.
  mutating func rest(
    _ item: SendOrder.Item, because detail: String, _ channel: inout TreeChannel
  ) {
    order.rest(item)
    rest(because: detail, &channel)
  }

  /// The server misses a number before that of an item. Behind something that it did not take, that
  /// says nothing about the item, which goes again in its order.
  ///
  /// - Returns: False for an item that was sent behind nothing that rests.
  mutating func restBehind(_ item: SendOrder.Item) -> Bool {
    guard order.isBehindRest(item) else { return false }
    order.rest(item)
    return true
  }

  /// The server takes nothing now: what waits goes after a rest.
  mutating func rest(because detail: String, _ channel: inout TreeChannel) {
    channel.notice(.serverSays(detail))
    guard !pause.isActive else { return }
    // The first delay of a schedule is none.
    var delay = pause.begin(unit: channel.ambient.randomUnit())
    if delay == .zero { delay = pause.begin(unit: channel.ambient.randomUnit()) }
    channel.emit(.startTimer(.outbox, delay))
  }

  /// The rest is over.
  ///
  /// - Returns: Whether there was one, so that there may be something to send.
  mutating func resume() -> Bool {
    guard pause.isActive else { return false }
    pause.end()
    return true
  }

  /// The server took an item: the next rest is short.
  mutating func taken() { pause.succeeded() }
}

// MARK: - onDisconnect operations

extension TreeOutbox {
  /// Adds an onDisconnect operation, unless too many wait for their confirmation.
  mutating func add(
    _ request: DisconnectRequest, as id: OperationID, _ channel: inout TreeChannel
  ) -> Bool {
    let limit = limits.waiting.deferredWrites
    guard disconnects.count < limit else {
      channel.emit(.disconnectAnswered(id, .tooManyWaiting(limit: limit)))
      return false
    }
    disconnects[id] = request
    append(.disconnect(id))
    return true
  }

  /// Takes the onDisconnect operation that the server has answered.
  mutating func answered(disconnect id: OperationID) -> DisconnectRequest? {
    answered(.disconnect(id))
    return disconnects.removeValue(forKey: id)
  }
}
