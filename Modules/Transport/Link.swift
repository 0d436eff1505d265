/// One end of a connection: whole frames go out in order, and none is half sent.
///
/// Every member may be called from any thread and none of them blocks. What comes in, and the
/// end of the link, is told to the ``LinkHandler`` that was made for it.
public protocol Link: AnyObject, Sendable {
  /// The address of the other end, for logs: `127.0.0.1:50412`, `loopback#3`.
  var peer: String { get }

  /// True when a node of another shard of the cluster has opened the link, on behalf of a client of
  /// its own. Default: false.
  var isOfOtherShard: Bool { get }

  /// Bytes handed to `send(_:)` that the other side's machine has not taken yet.
  ///
  /// This is what a sender watches to notice a slow reader; see ``LinkPressure``.
  var queuedBytes: Int { get }

  /// Puts a frame behind those already sent; it leaves at the next ``flush()``.
  ///
  /// A frame longer than the transport's ``FrameLimit`` closes the link with
  /// ``LinkClosure/frameTooLarge(bytes:limitBytes:)``. After a close, frames are dropped.
  func send(_ frame: [UInt8])

  /// Queues frames one behind the other; the same as `send(_:)` for each.
  func send(contentsOf frames: [[UInt8]])

  /// Queues frames that go to other links as well; the same as ``send(contentsOf:)``.
  func send(_ shared: SharedFrames)

  /// Lets everything sent so far leave, in one write where the transport can.
  func flush()

  /// Queues frames and lets everything leave; the same as ``send(contentsOf:)`` and
  /// ``flush()``, for transports that have a shorter way for both.
  ///
  /// - Returns: ``queuedBytes`` afterwards.
  func post(_ shared: SharedFrames) -> Int

  /// Stops or resumes the delivery of frames, so that the sender feels a full receiver.
  ///
  /// Frames of a read that is being delivered still arrive. The peer's close ends a pause:
  /// what came before it is delivered, then the close.
  func setReading(_ on: Bool)

  /// Ends the link: what was sent before still travels, what would still come in is dropped.
  func close()

  /// Ends the link at once and frees the memory of what waits to be sent, where the transport can;
  /// the same as ``close()`` otherwise. Its handler hears ``LinkClosure/closedHere``.
  func abort()
}

/// The receiver of one link's events, always called on ``Transport/executor``.
public protocol LinkHandler: AnyObject, Sendable {
  /// Takes all whole frames of one read, in the order they were sent; never an empty list.
  func linkDidReceive(_ frames: [[UInt8]])

  /// ``Link/queuedBytes`` had grown beyond ``LinkPressure/highBytes`` and has fallen to
  /// ``LinkPressure/lowBytes`` or less: there is room again.
  func linkDidDrain()

  /// The link has ended. Called exactly once, and nothing is called after it.
  func linkDidClose(_ reason: LinkClosure)
}

extension LinkHandler {
  public func linkDidDrain() {}
}

/// Makes the handler of a link that has just opened; runs on ``Transport/executor``.
///
/// No frame is delivered before it returns, and it may already send.
public typealias LinkOpening = @Sendable (any Link) -> any LinkHandler

extension Link {
  public var isOfOtherShard: Bool { false }

  public func abort() { close() }

  public func send(contentsOf frames: [[UInt8]]) {
    for frame in frames { send(frame) }
  }

  public func send(_ shared: SharedFrames) { send(contentsOf: shared.frames) }

  public func post(_ shared: SharedFrames) -> Int {
    send(shared)
    flush()
    return queuedBytes
  }
}
