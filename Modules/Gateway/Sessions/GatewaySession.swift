#if TCP
  import NIOCore
  import TernTransport
  import TernTreeWire

  /// A foreign client's session with the server: on its event loop alone.
  ///
  /// The server sees a link like any other, whose first frame introduces the client.
  ///
  /// The owner of the channel keeps it, and must call ``end(_:)``: until then the session and
  /// its link hold each other.
  final class GatewaySession {
    /// `nil` after the end.
    private(set) var link: GatewayLink?
    /// The server's side; `nil` after the end.
    private var owner: (any LinkHandler)?

    /// Opens the session.
    ///
    /// - Parameters:
    ///   - protocolName: What the client speaks, for figures.
    ///   - order: Carries out what the server orders; not called after ``end(_:)``.
    init(
      _ opening: TreeOpening, peer: String, protocolName: String, on loop: any EventLoop,
      open: LinkOpening,
      order: @escaping (LinkOrder) -> Void
    ) {
      let orders = NIOLoopBound(order, eventLoop: loop)
      let session = NIOLoopBoundBox<GatewaySession?>.makeEmptyBox(eventLoop: loop)
      let link = GatewayLink(
        peer: peer, protocolName: protocolName, loop: loop, order: { orders.value($0) },
        drained: { session.value?.owner?.linkDidDrain() })
      self.link = link
      session.value = self
      owner = open(link)
      // A server that accepts no more sessions has closed it by now.
      if link.isClosed {
        end(.closedHere)
        return
      }
      receive([TreeClientMessage.open(opening).encode()])
    }

    /// Hands on what the client sent.
    ///
    /// After the end, frames are dropped.
    func receive(_ frames: [[UInt8]]) {
      if !frames.isEmpty { owner?.linkDidReceive(frames) }
    }

    /// Tells the server, once, that this was all.
    func end(_ reason: LinkClosure) {
      guard let owner = exchange(&owner, with: nil) else { return }
      link?.abandon()
      link = nil
      owner.linkDidClose(reason)
    }
  }
#endif
