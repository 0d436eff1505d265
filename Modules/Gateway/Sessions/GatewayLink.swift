#if TCP
  import NIOCore
  import Synchronization
  import TernServer
  import TernTransport

  /// A link's request to its channel; made on the channel's event loop.
  enum LinkOrder: Sendable {
    /// Send these frames; ``GatewayLink/didSend(_:)`` is told how many bytes they were, in the end.
    case send([GatewayFrames], bytes: Int)
    /// Stop or resume reading from the client.
    case setReading(Bool)
    /// End at once, without what was sent.
    case abort
    /// End, behind what was sent.
    case close
  }

  /// The server's end of a connection that speaks another framing than ours.
  ///
  /// It has the same shape as a link over TCP: frames gather under a lock, and a flush hands
  /// them to the loop together. It knows no protocol: the owner of the channel turns frames
  /// into its own messages. Calls from any thread; orders on the loop alone.
  final class GatewayLink: NamedLink {
    /// The output of the link, guarded by one mutex; orders are given outside it.
    private struct Outgoing {
      /// Frames that no flush has taken.
      var frames: [GatewayFrames] = []
      var waitingBytes = 0
      /// Bytes given to the channel that it has not sent.
      var underwayBytes = 0
      /// True while a flush is scheduled on the loop.
      var isFlushOwed = false
      /// True from more than ``LinkPressure/highBytes`` queued until ``LinkPressure/lowBytes``.
      var isUnderPressure = false
      var isClosed = false

      var queuedBytes: Int { waitingBytes + underwayBytes }
    }

    let peer: String
    let protocolName: String
    private let loop: any EventLoop
    private let order: @Sendable (LinkOrder) -> Void
    private let drained: @Sendable () -> Void
    private let outgoing = Mutex(Outgoing())

    /// - Parameters:
    ///   - protocolName: What the client speaks, for figures.
    ///   - order: Carries out an order.
    ///   - drained: Told on the loop that the pressure is over.
    init(
      peer: String, protocolName: String, loop: any EventLoop,
      order: @escaping @Sendable (LinkOrder) -> Void,
      drained: @escaping @Sendable () -> Void
    ) {
      self.peer = peer
      self.protocolName = protocolName
      self.loop = loop
      self.order = order
      self.drained = drained
    }

    /// The frames that wait and those that the channel has not sent, in bytes of the server's
    /// messages: heads and other framing do not count.
    var queuedBytes: Int { outgoing.withLock { $0.queuedBytes } }

    var isClosed: Bool { outgoing.withLock { $0.isClosed } }

    func send(_ frame: [UInt8]) { send(contentsOf: [frame]) }

    func send(contentsOf frames: [[UInt8]]) { send(.own(frames)) }

    func send(_ shared: SharedFrames) { send(.shared(shared)) }

    private func send(_ frames: GatewayFrames) {
      outgoing.withLock { outgoing in
        if outgoing.isClosed { return }
        outgoing.frames.append(frames)
        outgoing.waitingBytes += frames.frames.reduce(0) { $0 + $1.count }
        if outgoing.queuedBytes > LinkPressure.highBytes { outgoing.isUnderPressure = true }
      }
    }

    /// Hands the frames to the channel: at once on the loop, otherwise in its next turn.
    func flush() {
      if loop.inEventLoop { return writeOut() }
      let isNew = outgoing.withLock { outgoing in
        if outgoing.isFlushOwed || outgoing.frames.isEmpty { return false }
        outgoing.isFlushOwed = true
        return true
      }
      if isNew { loop.execute { self.writeOut() } }
    }

    func setReading(_ on: Bool) { perform { self.order(.setReading(on)) } }

    /// Ends the link behind what was sent. Later calls do nothing.
    func close() {
      let isFirst = outgoing.withLock { outgoing in
        defer { outgoing.isClosed = true }
        return !outgoing.isClosed
      }
      guard isFirst else { return }
      perform {
        self.writeOut()
        self.order(.close)
      }
    }

    /// Drops what waits and ends the link at once. A link that is closing is not aborted.
    func abort() {
      let isFirst = outgoing.withLock { outgoing in
        defer { outgoing.isClosed = true }
        outgoing.frames = []
        outgoing.waitingBytes = 0
        return !outgoing.isClosed
      }
      if isFirst { perform { self.order(.abort) } }
    }

    /// The channel has sent that many bytes of frames. On the loop.
    func didSend(_ bytes: Int) {
      let hasDrained = outgoing.withLock { outgoing in
        outgoing.underwayBytes = max(0, outgoing.underwayBytes - bytes)
        guard outgoing.isUnderPressure, outgoing.queuedBytes <= LinkPressure.lowBytes else {
          return false
        }
        outgoing.isUnderPressure = false
        return true
      }
      if hasDrained { drained() }
    }

    /// The channel is gone: drops what waits and takes nothing more. On the loop.
    func abandon() {
      outgoing.withLock { outgoing in
        outgoing = Outgoing()
        outgoing.isClosed = true
      }
    }

    private func writeOut() {
      let (frames, bytes) = outgoing.withLock { outgoing in
        outgoing.isFlushOwed = false
        let bytes = exchange(&outgoing.waitingBytes, with: 0)
        outgoing.underwayBytes += bytes
        return (exchange(&outgoing.frames, with: []), bytes)
      }
      if !frames.isEmpty { order(.send(frames, bytes: bytes)) }
    }

    private func perform(_ work: @escaping @Sendable () -> Void) {
      if loop.inEventLoop { work() } else { loop.execute(work) }
    }
  }
#endif
