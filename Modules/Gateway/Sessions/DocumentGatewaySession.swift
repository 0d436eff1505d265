#if TCP
  import NIOCore
  import TernCore
  import TernDocumentWire
  import TernTransport

  /// The receiver of one call's messages and end, called on the session's event loop.
  ///
  /// Nothing is delivered before the call has been returned to its beginner.
  protocol DocumentCallReceiver: AnyObject {
    /// Takes a message of the call.
    func callDidReceive(_ message: [UInt8])
    /// Returns `true` if messages that follow one another may be delivered together.
    func takes(together messages: SharedFrames) -> Bool
    /// Takes messages of the call that follow one another; other calls may be sent the same.
    func callDidReceive(together messages: SharedFrames)
    /// Ends the call; `nil` for a good end. Nothing is delivered afterwards.
    func callDidEnd(_ status: DocumentStatus?)
  }

  extension DocumentCallReceiver {
    func takes(together messages: SharedFrames) -> Bool { false }

    func callDidReceive(together messages: SharedFrames) {
      for message in messages.frames { callDidReceive(message) }
    }
  }

  /// Calls of the documents' dialect for clients that speak another protocol: on one event loop
  /// alone. Source: Docs/Formats/document-wire.md.
  ///
  /// The server sees a link like any other. The link opens with the first call, and opens again
  /// when a call begins after the server has closed it.
  final class DocumentGatewaySession {
    /// The other end as the server sees it; ``Caller/peer``.
    let peer: String
    /// The client's protocol, for figures.
    private let protocolName: String
    let loop: any EventLoop
    /// Stops and resumes what the client sends, when the server has enough to do.
    var onReading: (Bool) -> Void = { _ in }
    /// Told when the server has closed the link under calls, after their ends.
    var onClosure: () -> Void = {}
    let load: DocumentGatewayLoad
    private let open: LinkOpening
    /// The link; `nil` before the first call and after the server has closed it.
    private var carrier: Carrier?
    /// The calls that have not ended, by their numbers on the present link.
    private var calls: [UInt32: DocumentGatewayCall] = [:]
    /// The number of the newest call of the present link; each link begins with 1.
    private var lastCall: UInt32 = 0
    /// True once the client is gone: no call begins any more.
    private var isEnded = false
    /// Sends pings while calls are open, because the server closes links that are silent.
    private var heartbeat: RepeatedTask?

    /// One link, for as long as the server keeps it.
    private struct Carrier {
      let link: GatewayLink
      let owner: any LinkHandler
    }

    /// The interval of pings while calls are open: half the silence that the server allows.
    static let pingInterval = TimeAmount.seconds(25)

    /// - Parameters:
    ///   - peer: The other end as the server is to see it; ``Caller/peer``.
    ///   - address: The client's address without its port, which is charged for what it leaves
    ///     unread.
    ///   - protocolName: What the client speaks, for figures.
    init(
      peer: String, address: String, protocolName: String = "rest", _ context: GatewayContext,
      on loop: any EventLoop
    ) {
      self.peer = peer
      self.protocolName = protocolName
      self.loop = loop
      open = context.open
      load = DocumentGatewayLoad(context, address: address)
    }

    /// The number of calls that have not ended.
    var callCount: Int { calls.count }

    /// Begins a call.
    ///
    /// - Parameters:
    ///   - method: The bare name of the method.
    ///   - metadata: Names in lower case; `authorization` carries the credential.
    ///   - message: The only message of the call, which is thereby half-closed; `nil` when messages
    ///     follow.
    /// - Returns: The call. When no link can be opened, it ends with `UNAVAILABLE` in the
    ///   loop's next turn, and never within this function.
    func begin(
      _ method: String, metadata: [DocumentCallOpening.Entry], message: [UInt8]? = nil,
      to receiver: any DocumentCallReceiver
    ) -> DocumentGatewayCall {
      let call = DocumentGatewayCall(self, DocumentMethod(rawValue: method), receiver)
      guard !isEnded, let carrier = carrier ?? openLink() else {
        call.endLater(Self.unavailable)
        return call
      }
      lastCall += 1
      call.number = lastCall
      calls[lastCall] = call
      startHeartbeat()
      let opening = DocumentCallOpening(method: method, metadata: metadata, message: message)
      carrier.owner.linkDidReceive([
        DocumentClientFrame.open(stream: lastCall, opening).encode()
      ])
      return call
    }

    /// Ends all calls without a word to their receivers, and the link: the client is gone.
    func end(_ reason: LinkClosure) {
      isEnded = true
      let ended = exchange(&calls, with: [:])
      for call in ended.values { call.abandon() }
      close(reason)
    }

    /// Hands a frame to the server; nothing happens without a link.
    func send(_ frame: DocumentClientFrame) {
      carrier?.owner.linkDidReceive([frame.encode()])
    }

    /// Forgets a call that has ended or was cancelled.
    func forget(_ number: UInt32) {
      calls[number] = nil
    }

    private static let unavailable = DocumentStatus(
      .unavailable, "The service is shutting down.")
  }

  // MARK: - The link

  extension DocumentGatewaySession {
    /// Opens a link; `nil` when the server takes no more of them.
    private func openLink() -> Carrier? {
      let session = NIOLoopBound(Weak(self), eventLoop: loop)
      let link = GatewayLink(
        peer: peer, protocolName: protocolName, loop: loop,
        order: { session.value.session?.perform($0) },
        drained: { session.value.session?.carrier?.owner.linkDidDrain() })
      lastCall = 0
      let new = Carrier(link: link, owner: open(link))
      // A server that accepts no more sessions has closed it by now.
      guard !link.isClosed else {
        link.abandon()
        new.owner.linkDidClose(.closedHere)
        return nil
      }
      carrier = new
      return new
    }

    private final class Weak {
      weak var session: DocumentGatewaySession?

      init(_ session: DocumentGatewaySession) { self.session = session }
    }

    /// Performs what the server asks. A closed link ends all its calls, in the order of their
    /// beginnings, so that clients begin again.
    private func perform(_ order: LinkOrder) {
      switch order {
      case .send(let batches, let bytes): receive(batches, bytes)
      case .setReading(let isOn): onReading(isOn)
      case .abort, .close:
        close(.closedHere)
        let ended = exchange(&calls, with: [:])
        for call in ended.values.sorted(by: { $0.number < $1.number }) {
          call.finish(Self.unavailable)
        }
        if !ended.isEmpty { onClosure() }
      }
    }

    /// Hands each frame to its call, which bounds what it keeps: a call that is not read holds
    /// nothing of the others back.
    private func receive(_ batches: [GatewayFrames], _ bytes: Int) {
      let link = carrier?.link
      load.beginBatch()
      for batch in batches {
        for part in batch.callFrames.parts { receive(part) }
      }
      link?.didSend(bytes)
    }

    /// Hands messages to their call; those for a call that has ended are dropped.
    private func receive(_ part: CallFrames.Part) {
      switch part {
      case .messages(let number, let messages): calls[number]?.receive(together: messages)
      case .frame(let frame): receive(frame)
      }
    }

    /// Hands a frame to its call. An answer is the only message of a call, and its good end.
    private func receive(_ frame: DocumentServerFrame) {
      switch frame {
      case .message(let number, let message): calls[number]?.receive(message)
      case .answer(let number, let message):
        guard let call = calls[number] else { return }
        call.receive(message)
        call.finish(nil)
      case .end(let number, let status): calls[number]?.finish(status)
      case .pong: break
      }
    }

    /// Closes the link for a reason, and lets the client send again: what stopped it is gone.
    private func close(_ reason: LinkClosure) {
      stopHeartbeat()
      guard let old = exchange(&carrier, with: nil) else { return }
      old.link.abandon()
      old.owner.linkDidClose(reason)
      onReading(true)
    }

    private func startHeartbeat() {
      if heartbeat != nil { return }
      let session = NIOLoopBound(Weak(self), eventLoop: loop)
      heartbeat = loop.scheduleRepeatedTask(
        initialDelay: Self.pingInterval, delay: Self.pingInterval
      ) { _ in session.value.session?.beat() }
    }

    /// Keeps the link while calls are open. Without any the pings end with the next one due: calls
    /// that follow one another would start and stop a timer each.
    private func beat() {
      if calls.isEmpty { stopHeartbeat() } else { send(.ping) }
    }

    private func stopHeartbeat() {
      heartbeat?.cancel()
      heartbeat = nil
    }
  }
#endif
