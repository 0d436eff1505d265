#if TCP
  import NIOCore
  import TernTransport

  /// The channel handler of one link: reads frames, tells the owner, and ends the connection.
  ///
  /// It lives on the event loop alone. An ending has two halves: the owner is told at once,
  /// then the connection lingers until what was sent has arrived, or time is up.
  final class TCPLinkHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The settings that a transport gives to each of its links.
    struct Setting: Sendable {
      let limit: FrameLimit
      /// The load that the links of the transport hold together.
      let load: FrameLoad
      /// True when bytes must go through the pipeline, where they are encrypted or put into the
      /// frames of a tunnel.
      var isSecured: Bool
      /// The time from the opening to the peer's whole preamble; afterwards silence is legal.
      let preambleTimeout: TimeAmount
      /// The time that a closing link waits for the peer to take the rest and to close.
      let linger: TimeAmount
      /// Makes the owner; called on the event loop.
      let open: LinkOpening
      /// Called with the new link once its handler exists.
      let didOpen: @Sendable (TCPLink) -> Void
      /// Called in place of `didOpen` when the socket turns out to be connected to itself.
      let didMeetItself: @Sendable () -> Void
      /// Called once, when the connection is gone.
      let didEnd: @Sendable (TCPLink) -> Void
    }

    private let setting: Setting
    /// The peer that a tunnel has named. Without one, a proxy's header is asked, then the socket.
    private let other: LinkPeer?
    private var reader: FrameReader
    /// `nil` before the connection is active and after it is gone.
    private var link: TCPLink?
    /// The receiver of events; `nil` until it is made and after the closure was reported to it.
    private var owner: (any LinkHandler)?
    /// The limit of the preamble, later that of the lingering; never both.
    private var timer: Scheduled<Void>?
    /// The first reason to end. It outlives the report, for an owner that is made too late.
    private var reason: LinkClosure?
    /// The end that the owner has asked for while it was being made.
    private var earlyEnd: LinkClosure?
    /// The bytes of this link in the load of all.
    private var heldBytes = 0
    /// `true` while the link's owner wants to read.
    private var isReading = true
    /// Looks again whether the link's address holds less than its share; `nil` while it does.
    private var slowing: Scheduled<Void>?
    /// The deadline after which a slowed link is closed.
    private var patience = NIODeadline.now()

    /// - Parameter other: The other end as a proxy names it; `nil` for the socket's own peer.
    init(_ setting: Setting, other: LinkPeer? = nil) {
      self.setting = setting
      self.other = other
      reader = FrameReader(limit: setting.limit)
    }

    /// Adds a handler for a link that comes through a tunnel.
    ///
    /// - Returns: A function that adds the handler on the loop. Its links count as secured:
    ///   their bytes have to pass the tunnel's handlers, so nothing is written to the socket
    ///   directly.
    static func installation(_ setting: Setting) -> LinkInstallation {
      var setting = setting
      setting.isSecured = true
      return { [setting] channel, other in
        try channel.pipeline.syncOperations.addHandler(TCPLinkHandler(setting, other: other))
      }
    }

    func channelActive(context: ChannelHandlerContext) {
      // A client that tries a port of the range of outgoing ports, without a server there, can be
      // given that very port; TCP then connects it to itself.
      if let here = context.localAddress, here == context.remoteAddress {
        setting.didMeetItself()
        context.close(promise: nil)
        return
      }
      let link = TCPLink(
        channel: context.channel, limit: setting.limit,
        other: other ?? ProxiedPeer.link(context.channel))
      self.link = link
      var hello = context.channel.allocator.buffer(capacity: FrameReader.preamble.count)
      hello.writeBytes(FrameReader.preamble)
      let greeted = context.eventLoop.makePromise(of: Void.self)
      // From here on nothing but the link writes, so it knows what the channel still has.
      if !setting.isSecured { greeted.futureResult.whenSuccess { link.openSocket() } }
      // Not flushed yet: a flush that meets a connection that is gone ends the channel at once, and
      // there has to be an owner by then who is told.
      context.write(wrapOutboundOut(hello), promise: greeted)
      introduce(link)
      if self.link == nil { return }
      end(context, after: setting.preambleTimeout, .silentPeer)
      context.fireChannelActive()
      if let earlyEnd { return finish(context, earlyEnd) }
      if !isReading { setReading(context, false) }
      context.flush()
    }

    /// Opens the link at its owner, and ends it there again if the connection ended meanwhile.
    ///
    /// `open` may send, close, or meet the end of the connection, so the link's own state is
    /// looked at again after it.
    private func introduce(_ link: TCPLink) {
      let owner = setting.open(link)
      setting.didOpen(link)
      if self.link == nil {
        owner.linkDidClose(reason ?? .closedByPeer)
        setting.didEnd(link)
      } else {
        self.owner = owner
      }
    }

    /// Reads frames; they are handed on at the end of the read, in one call. After the closure
    /// was reported, bytes are dropped.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard owner != nil else { return }
      let wasIntroduced = reader.isIntroduced
      do throws(LinkClosure) {
        let bytes = unwrapInboundIn(data)
        try reader.consume(bytes.readableBytesUInt8Span)
        try hold(reader.heldBytes, context)
      } catch {
        deliver()
        // Frames that were whole before the error still count: they are delivered first, the
        // reason behind them.
        tell(error)
        context.close(promise: nil)
        return
      }
      if !wasIntroduced, reader.isIntroduced {
        timer?.cancel()
        timer = nil
      }
    }

    /// Hands on the frames of one read together: the owner decides them in one batch.
    func channelReadComplete(context: ChannelHandlerContext) {
      deliver()
      context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if event is LinkDrained {
        owner?.linkDidDrain()
      } else {
        context.fireUserInboundEventTriggered(event)
      }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      reason = reason ?? .lost("\(error)")
      context.close(promise: nil)
    }

    /// Reports the end and releases all that belongs to the link. An end of input at the border
    /// of a frame is a close by the peer; elsewhere bytes were lost.
    func channelInactive(context: ChannelHandlerContext) {
      deliver()
      tell(reason ?? (reader.isBetweenFrames ? .closedByPeer : .lost("it ended within a frame")))
      timer?.cancel()
      timer = nil
      slowing?.cancel()
      slowing = nil
      if let link {
        link.abandon()
        setting.didEnd(link)
      }
      link = nil
      context.fireChannelInactive()
    }

    func triggerUserOutboundEvent(
      context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
    ) {
      switch event as? LinkCommand {
      case .setReading(let isOn):
        isReading = isOn
        // A link that is slowed stays slowed, whatever its owner wants.
        if owner != nil { setReading(context, isOn && slowing == nil) }
        promise?.succeed()
      case .close(let reason):
        if owner != nil { finish(context, reason) } else { earlyEnd = reason }
        promise?.succeed()
      case .abort:
        reason = reason ?? .closedHere
        context.close(promise: promise)
      case nil:
        context.triggerUserOutboundEvent(event, promise: promise)
      }
    }
  }

  // MARK: - Endings

  extension TCPLinkHandler {
    /// Hands the whole frames to the owner, if there are any and it has not been told of the end.
    private func deliver() {
      guard let owner else { return }
      let frames = reader.takeFrames()
      if !frames.isEmpty { owner.linkDidReceive(frames) }
    }

    /// Counts what is kept of a frame that is not whole.
    ///
    /// The first time that the address is above its share, reading stops and is resumed by
    /// ``lookAgain(_:)``.
    ///
    /// - Parameter bytes: All bytes held now, not the difference.
    /// - Throws: `overloaded` when the total is used up.
    private func hold(_ bytes: Int, _ context: ChannelHandlerContext) throws(LinkClosure) {
      if bytes == heldBytes { return }
      let isInShare = try setting.load.change(by: bytes - heldBytes, for: link?.address ?? "")
      heldBytes = bytes
      if isInShare || slowing != nil { return }
      patience = .now() + Self.slowedTime
      setReading(context, false)
      lookAgain(context)
    }

    /// The time for which a link above its address's share is not read before it is closed. It lets
    /// other links of the address finish a frame, and ends a client that holds its share with
    /// frames which it never finishes.
    private static var slowedTime: TimeAmount { .seconds(5) }

    /// Resumes reading when the address is below its share; closes the link when that takes too
    /// long.
    private func lookAgain(_ context: ChannelHandlerContext) {
      slowing = context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(100)) {
        self.slowing = nil
        guard self.owner != nil else { return }
        if self.setting.load.hasSpace(for: self.link?.address ?? "") {
          self.setReading(context, self.isReading)
        } else if NIODeadline.now() < self.patience {
          self.lookAgain(context)
        } else {
          self.tell(.overloaded(limitBytes: self.setting.load.shareBytes))
          context.close(promise: nil)
        }
      }
    }

    /// Reports the closure to the owner, once. Nothing more is read.
    ///
    /// The reader is replaced so that its memory is free at once, and the load is released with it.
    private func tell(_ reason: LinkClosure) {
      let owner = exchange(&owner, with: nil)
      reader = FrameReader(limit: setting.limit)
      setting.load.release(exchange(&heldBytes, with: 0), for: link?.address ?? "")
      if self.reason == nil { self.reason = reason }
      owner?.linkDidClose(reason)
    }

    /// Sends what waits, says goodbye to the peer, and reads on until it has said so too: a
    /// socket closed with unread bytes in it would take back what it has just sent.
    private func finish(_ context: ChannelHandlerContext, _ reason: LinkClosure) {
      link?.writeOut()
      tell(reason)
      slowing?.cancel()
      slowing = nil
      // The peer's close arrives as input, so reading goes on even where the owner had stopped it.
      setReading(context, true)
      end(context, after: setting.linger, reason)
      let channel = context.channel
      let sent = channel.eventLoop.makePromise(of: Void.self)
      sent.futureResult.whenSuccess { channel.close(mode: .output, promise: nil) }
      context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: sent)
    }

    /// Switches automatic reads of the channel. An error means that it is closed, which needs
    /// nothing.
    private func setReading(_ context: ChannelHandlerContext, _ isOn: Bool) {
      try? context.channel.syncOptions?.setOption(.autoRead, value: isOn)
    }

    /// Replaces the timer by one that closes the channel after `delay` for `reason`, unless
    /// another reason comes first.
    private func end(
      _ context: ChannelHandlerContext, after delay: TimeAmount, _ reason: LinkClosure
    ) {
      timer?.cancel()
      timer = context.eventLoop.assumeIsolated().scheduleTask(in: delay) {
        self.reason = self.reason ?? reason
        context.close(promise: nil)
      }
    }
  }
#endif
