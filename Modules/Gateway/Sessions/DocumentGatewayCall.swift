#if TCP
  import NIOCore
  import TernCore
  import TernDocumentWire
  import TernTransport

  /// One call of a ``DocumentGatewaySession``: on its event loop alone.
  ///
  /// While reading is paused, messages wait here. They are charged to the client's address; a call
  /// that leaves more unread than ``GatewayLimits/streamBytes`` ends when more comes for it.
  ///
  /// A call is numbered when the link takes it, and ends once: by the server (``finish(_:)``),
  /// by its client (``cancel()``), with its session (``abandon()``), or by this class when too
  /// much waits. Only the first and the last are told to the receiver.
  final class DocumentGatewayCall {
    /// True once the receiver was told of the end, or is not to be told.
    private(set) var isEnded = false
    /// The number of the call on its link; 0 for a call that never began.
    var number: UInt32 = 0
    private weak var session: DocumentGatewaySession?
    private let method: DocumentMethod?
    /// Held until the end; a cycle with a receiver that holds the call ends there.
    private var receiver: (any DocumentCallReceiver)?
    private let load: DocumentGatewayLoad
    private let loop: any EventLoop
    /// True while the receiver wants no messages.
    private var isPaused = false
    /// True while ``deliver()`` runs: a receiver that pauses and resumes within it must not
    /// start another one.
    private var isDelivering = false
    /// Messages that the receiver has not taken, as they came.
    private var waiting = CircularBuffer<SharedFrames>()
    /// The bytes of ``waiting``, all of them charged.
    private var waitingBytes = 0
    /// The batch of frames whose messages may exceed the limit together.
    private var batch: UInt64 = 0
    /// The end that waits behind the messages.
    private var pendingEnd: DocumentStatus??

    /// - Parameter method: `nil` for one that is not served.
    init(
      _ session: DocumentGatewaySession, _ method: DocumentMethod?,
      _ receiver: any DocumentCallReceiver
    ) {
      self.session = session
      self.method = method
      self.receiver = receiver
      load = session.load
      loop = session.loop
    }

    deinit { load.release(waitingBytes) }

    /// Sends a message of the client.
    func send(_ message: [UInt8]) { tell(.message(stream: number, message)) }

    /// Tells the server that the client sends nothing more.
    func halfClose() { tell(.halfClose(stream: number)) }

    /// Ends the call; its receiver is told nothing more.
    func cancel() {
      if isEnded { return }
      tell(.cancel(stream: number))
      session?.forget(number)
      abandon()
    }

    /// Stops or resumes the delivery of messages to the receiver.
    func setReading(_ isOn: Bool) {
      isPaused = !isOn
      if isOn { deliver() }
    }

    /// Sends a frame of the client, unless the call has ended on either side.
    private func tell(_ frame: DocumentClientFrame) {
      // What comes for a call that the server has ended was on its way when it did.
      if !isEnded, pendingEnd == nil, number != 0 { session?.send(frame) }
    }
  }

  // MARK: - The session's side

  extension DocumentGatewayCall {
    /// Takes a message of the server.
    func receive(_ message: [UInt8]) {
      if isFree { receiver?.callDidReceive(message) } else { keep(SharedFrames([message])) }
    }

    /// Takes messages of the server that follow one another.
    func receive(together messages: SharedFrames) {
      if !isFree { return keep(messages) }
      if let receiver, receiver.takes(together: messages) {
        receiver.callDidReceive(together: messages)
      } else {
        for message in messages.frames { receive(message) }
      }
    }

    /// True when messages need not wait.
    private var isFree: Bool {
      !isEnded && pendingEnd == nil && !isPaused && waiting.isEmpty && !isDelivering
    }

    /// Queues messages for later, and ends the call when its client leaves too much unread.
    ///
    /// The limit is looked at once for each batch of the server. So one large answer may exceed
    /// it, and what is added behind may not.
    private func keep(_ messages: SharedFrames) {
      if isEnded || pendingEnd != nil { return }
      // An answer comes in one batch; only its memory bounds it.
      let leftTooMuch = batch != load.batch && waitingBytes > load.limits.streamBytes
      batch = load.batch
      let bytes = messages.byteCount
      let isOutcome = method?.isOutcome(ofBytes: bytes) ?? false
      guard isOutcome || !leftTooMuch, load.hold(bytes, isOutcome: isOutcome) else {
        return overflow()
      }
      waitingBytes += bytes
      waiting.append(messages)
    }

    /// Ends a call whose client reads too slowly; it may begin again with what there is then.
    private func overflow() {
      tell(.cancel(stream: number))
      session?.forget(number)
      dropWaiting()
      end(DocumentStatus(.unavailable, "The call's messages are read too slowly."))
    }

    /// Ends the call behind its messages.
    func finish(_ status: DocumentStatus?) {
      if isEnded || pendingEnd != nil { return }
      session?.forget(number)
      pendingEnd = .some(status)
      deliver()
    }

    /// Ends the call when the loop is free: its beginner does not know it yet.
    func endLater(_ status: DocumentStatus) {
      let call = NIOLoopBound(self, eventLoop: loop)
      loop.execute { call.value.finish(status) }
    }

    /// Ends the call without a word.
    func abandon() {
      isEnded = true
      receiver = nil
      pendingEnd = nil
      dropWaiting()
    }

    private func dropWaiting() {
      waiting.removeAll()
      load.release(exchange(&waitingBytes, with: 0))
    }

    /// Hands messages to the receiver until it pauses or none are left, then the end if it waits.
    private func deliver() {
      if isDelivering { return }
      isDelivering = true
      defer { isDelivering = false }
      while !isPaused, !isEnded, let receiver, let messages = waiting.popFirst() {
        let isOne = messages.frames.count == 1
        // Taken apart: a receiver that pauses after one of them gets the others later.
        if !isOne, !receiver.takes(together: messages) {
          for message in messages.frames.reversed() { waiting.prepend(SharedFrames([message])) }
          continue
        }
        let bytes = messages.byteCount
        waitingBytes -= bytes
        load.release(bytes)
        if isOne {
          receiver.callDidReceive(messages.frames[0])
        } else {
          receiver.callDidReceive(together: messages)
        }
      }
      if waiting.isEmpty, let status = pendingEnd, !isEnded { end(status) }
    }

    /// Tells the receiver of the end. It is released before the call, which may begin another one.
    private func end(_ status: DocumentStatus?) {
      isEnded = true
      pendingEnd = nil
      exchange(&receiver, with: nil)?.callDidEnd(status)
    }
  }

  extension SharedFrames {
    /// The bytes of all frames together.
    fileprivate var byteCount: Int { frames.reduce(0) { $0 + $1.count } }
  }

  extension DocumentMethod {
    /// The most bytes of an updated document that count as an outcome: it may be larger than the
    /// request that updates it.
    static let updatedBytes = 64 << 10

    /// True for an answer of `bytes` that tells the outcome of a write that is decided. It is sent
    /// even to a client that may leave no more unread: one that is told otherwise makes its write
    /// again. Such an answer is not much larger than its request, whose bytes were charged.
    func isOutcome(ofBytes bytes: Int) -> Bool {
      switch self {
      case .updateDocument: bytes <= Self.updatedBytes
      case .write: false
      default: changesState
      }
    }
  }

  /// Counts the bytes that the calls of one client leave unread.
  final class DocumentGatewayLoad {
    let limits: GatewayLimits
    /// Counts the server's batches, each of which may exceed the limit of a call.
    private(set) var batch: UInt64 = 0
    private let load: GatewayLoad
    private let address: String

    init(_ context: GatewayContext, address: String) {
      limits = context.options.limits
      load = context.load
      self.address = address
    }

    /// Begins a batch of the server; the number wraps around without harm, as it is only compared.
    func beginBatch() { batch &+= 1 }

    /// Charges bytes; `false`, and nothing is charged, when the client may leave no more unread.
    ///
    /// - Parameter isOutcome: True for bytes that are charged whatever the client holds.
    func hold(_ bytes: Int, isOutcome: Bool) -> Bool {
      if load.holdAnswer(bytes, limit: limits.heldAnswerBytes, for: address) { return true }
      if isOutcome { load.countAnswer(bytes, for: address) }
      return isOutcome
    }

    /// Releases bytes that the receiver has taken, or that were dropped.
    func release(_ bytes: Int) { load.releaseAnswer(bytes, for: address) }
  }
#endif
