#if TCP
  import NIOCore
  import Synchronization
  import TernTransport

  /// One end of a TCP connection.
  ///
  /// Frames are appended to one buffer under a lock that is never held for long; the event loop
  /// takes the whole buffer at each flush and gives it to the socket in one write.
  final class TCPLink: Link {
    /// The output of the link. All of it is guarded by one mutex; no call into the channel
    /// happens under it, other than the direct send of ``postAtOnce(_:)``, which does not
    /// block.
    private struct Outgoing {
      /// Frames, each behind its length, that no flush has taken yet.
      var buffer = ByteBuffer()
      /// Bytes given to the channel that the socket has not taken.
      var underwayBytes = 0
      /// True while a flush is scheduled on the loop: further flushes from other threads need none.
      var isFlushOwed = false
      /// True from the moment more than ``LinkPressure/highBytes`` were queued until the queue
      /// has fallen to ``LinkPressure/lowBytes``. Only then is the drain reported.
      var isUnderPressure = false
      /// True once the link takes no further frames; it never becomes false again.
      var isClosed = false
      /// While the connection is open; used on the loop alone.
      var socket: DirectSocket?

      var queuedBytes: Int { buffer.readableBytes + underwayBytes }
    }

    let peer: String
    let isOfOtherShard: Bool
    /// The other end's address, without its port.
    let address: String
    private let channel: any Channel
    private let limit: FrameLimit
    private let outgoing = Mutex(Outgoing())

    /// - Parameter other: The other end as a proxy names it; `nil` for the socket's own peer.
    init(channel: any Channel, limit: FrameLimit, other: LinkPeer? = nil) {
      self.channel = channel
      self.limit = limit
      isOfOtherShard = other?.isOfOtherShard ?? false
      peer = other?.name ?? channel.remoteAddress.map(Self.name(of:)) ?? "unknown"
      address = other?.address ?? channel.remoteAddress?.ipAddress ?? "unknown"
    }

    var queuedBytes: Int { outgoing.withLock { $0.queuedBytes } }

    /// Lets flushes that find nothing before them write to the socket at once, until the link is
    /// abandoned. On the loop.
    ///
    /// Called when the preamble has left, and never for links with TLS or in a tunnel, where
    /// bytes on the socket are not those of the frames.
    func openSocket() {
      let socket = DirectSocket(of: channel)
      outgoing.withLock { $0.socket = socket }
    }

    /// The most bytes that wait in one buffer: far below what a buffer can hold, 4 GiB. A link that
    /// reaches it is closed with `overloaded`. Servers act long before, on ``queuedBytes``.
    private static let waitingBytes = 1 << 31

    func send(_ frame: [UInt8]) {
      guard frame.count <= limit.bytes else {
        close(.frameTooLarge(bytes: frame.count, limitBytes: limit.bytes))
        return
      }
      append(FrameReader.lengthBytes + frame.count) { buffer in
        buffer.writeInteger(UInt32(frame.count))
        buffer.writeBytes(frame)
      }
    }

    // One frame that is too long makes the link close; those before it still go out, so they
    // are sent one by one.
    func send(contentsOf frames: [[UInt8]]) {
      guard frames.count > 1, frames.allSatisfy({ $0.count <= limit.bytes }) else {
        for frame in frames { send(frame) }
        return
      }
      let bytes = frames.reduce(0) { $0 + FrameReader.lengthBytes + $1.count }
      append(bytes) { buffer in
        for frame in frames {
          buffer.writeInteger(UInt32(frame.count))
          buffer.writeBytes(frame)
        }
      }
    }

    func send(_ shared: SharedFrames) {
      let form = shared.form(Form.init)
      guard form.longest <= limit.bytes else { return send(contentsOf: shared.frames) }
      append(form.bytes.readableBytes, reserves: false) { buffer in
        if buffer.readableBytes == 0 {
          // All links share the same bytes; a link that appends to them gets a copy of its own.
          buffer = form.bytes
        } else {
          buffer.writeImmutableBuffer(form.bytes)
        }
      }
    }

    /// Puts bytes behind those that wait; ends a link that leaves more unread than a buffer holds.
    ///
    /// - Parameters:
    ///   - bytes: The exact number of bytes that `write` adds, length fields included.
    ///   - reserves: False when `write` may replace the buffer by a shared one, which must not
    ///     be grown first.
    ///   - write: Called under the lock, unless the link is closed.
    private func append(
      _ bytes: Int, reserves: Bool = true, _ write: (inout ByteBuffer) -> Void
    ) {
      let fits = outgoing.withLock { outgoing in
        if outgoing.isClosed { return true }
        guard outgoing.buffer.readableBytes + bytes <= Self.waitingBytes else { return false }
        if reserves { outgoing.buffer.reserveCapacity(minimumWritableBytes: bytes) }
        write(&outgoing.buffer)
        if outgoing.queuedBytes > LinkPressure.highBytes { outgoing.isUnderPressure = true }
        return true
      }
      if !fits { close(.overloaded(limitBytes: Self.waitingBytes)) }
    }

    /// Sends frames that many links get. On the loop with nothing queued, the socket takes them
    /// at once, without a flush of its own.
    ///
    /// - Returns: The bytes that wait after the call; 0 when the socket has taken everything.
    func post(_ shared: SharedFrames) -> Int {
      if let rest = postAtOnce(shared) {
        if rest == 0 { return 0 }
        writeOut()
      } else {
        send(shared)
        flush()
      }
      return queuedBytes
    }

    /// Gives the socket what many links are told, with one lock instead of one for each step.
    ///
    /// - Returns: The bytes the socket did not take, which are queued; `nil` when something is
    ///   before them, and nothing was done.
    private func postAtOnce(_ shared: SharedFrames) -> Int? {
      guard channel.eventLoop.inEventLoop else { return nil }
      let form = shared.form(Form.init)
      guard form.longest <= limit.bytes else { return nil }
      return outgoing.withLock { outgoing in
        guard let socket = outgoing.socket, !outgoing.isClosed, outgoing.queuedBytes == 0 else {
          return nil
        }
        var bytes = form.bytes
        socket.take(&bytes)
        if bytes.readableBytes > 0 { outgoing.buffer = bytes }
        if outgoing.queuedBytes > LinkPressure.highBytes { outgoing.isUnderPressure = true }
        return bytes.readableBytes
      }
    }

    /// Frames that go to many links, as they lie on the wire.
    ///
    /// It is built once for all links, by the first one that sends it; see `SharedFrames`.
    private struct Form {
      var bytes = ByteBuffer()
      /// The bytes of the longest frame.
      let longest: Int

      init(_ frames: [[UInt8]]) {
        longest = frames.reduce(0) { max($0, $1.count) }
        bytes.reserveCapacity(frames.reduce(0) { $0 + FrameReader.lengthBytes + $1.count })
        for frame in frames {
          bytes.writeInteger(UInt32(frame.count))
          bytes.writeBytes(frame)
        }
      }
    }

    func flush() {
      if channel.eventLoop.inEventLoop {
        writeOut()
        return
      }
      let isNew = outgoing.withLock { outgoing in
        if outgoing.isFlushOwed || outgoing.buffer.readableBytes == 0 { return false }
        outgoing.isFlushOwed = true
        return true
      }
      if isNew { channel.eventLoop.execute { self.writeOut() } }
    }

    /// Hands the wish to the handler. From another thread it takes effect at the loop's next turn.
    func setReading(_ on: Bool) {
      channel.triggerUserOutboundEvent(LinkCommand.setReading(on), promise: nil)
    }

    func close() { close(.closedHere) }

    /// Frees what waits and closes the socket without the farewell of ``TCPLinkHandler``. The
    /// peer sees an end within a frame, or a reset.
    func abort() {
      outgoing.withLock { outgoing in
        outgoing.isClosed = true
        outgoing.buffer = ByteBuffer()
      }
      channel.triggerUserOutboundEvent(LinkCommand.abort, promise: nil)
    }

    /// Stops taking frames and lets the handler end the connection behind those it has.
    ///
    /// The first reason wins; later calls do nothing.
    func close(_ reason: LinkClosure) {
      let isFirst = outgoing.withLock { outgoing in
        defer { outgoing.isClosed = true }
        return !outgoing.isClosed
      }
      if isFirst {
        channel.triggerUserOutboundEvent(LinkCommand.close(reason), promise: nil)
      }
    }

    /// The connection is gone: drops what waits and takes nothing more. On the loop.
    func abandon() {
      outgoing.withLock { outgoing in
        outgoing = Outgoing()
        outgoing.isClosed = true
      }
    }

    /// Gives the socket everything that was sent. On the loop.
    func writeOut() {
      var (buffer, socket) = outgoing.withLock { outgoing in
        outgoing.isFlushOwed = false
        // Bytes must not overtake those that the channel has.
        let socket = outgoing.underwayBytes == 0 ? outgoing.socket : nil
        let buffer = exchange(&outgoing.buffer, with: ByteBuffer())
        outgoing.underwayBytes += buffer.readableBytes
        return (buffer, socket)
      }
      let count = buffer.readableBytes
      if count == 0 { return }
      socket?.take(&buffer)
      let rest = buffer.readableBytes
      if rest > 0 {
        let written = channel.eventLoop.makePromise(of: Void.self)
        written.futureResult.whenSuccess { self.didWrite(rest) }
        channel.writeAndFlush(buffer, promise: written)
      }
      // Last, because a handler that hears of free space may send: that comes behind the rest.
      if rest < count { didWrite(count - rest) }
    }

    /// Returns when the connection is gone.
    func end() async {
      try? await channel.closeFuture.get()
    }

    /// Calls `body` on the loop when the connection is gone.
    func whenGone(_ body: @escaping @Sendable () -> Void) {
      channel.closeFuture.whenComplete { _ in body() }
    }

    /// Counts bytes out that the socket has taken, and reports a drain when that ends the pressure.
    private func didWrite(_ count: Int) {
      let hasDrained = outgoing.withLock { outgoing in
        outgoing.underwayBytes = max(0, outgoing.underwayBytes - count)
        guard outgoing.isUnderPressure, outgoing.queuedBytes <= LinkPressure.lowBytes else {
          return false
        }
        outgoing.isUnderPressure = false
        return true
      }
      if hasDrained { channel.pipeline.fireUserInboundEventTriggered(LinkDrained()) }
    }

    private static func name(of address: SocketAddress) -> String {
      "\(address.ipAddress ?? "unknown"):\(address.port ?? 0)"
    }
  }

  /// A request of a link to its channel handler.
  enum LinkCommand: Sendable {
    case setReading(Bool)
    case close(LinkClosure)
    /// Ends the connection without a farewell.
    case abort
  }

  /// The pressure on a link is over.
  struct LinkDrained: Sendable {}
#endif
