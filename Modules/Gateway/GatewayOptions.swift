/// What may be chosen about the doors for foreign clients.
public struct GatewayOptions: Hashable, Sendable {
  /// How much a client may ask of the doors.
  public var limits: GatewayLimits

  /// The defaults, but for what is given.
  public init(limits: GatewayLimits = GatewayLimits()) {
    self.limits = limits
  }
}

/// How much foreign clients may ask of the doors. Beyond a limit they are refused in words.
public struct GatewayLimits: Hashable, Sendable {
  /// The most connections at once. Default 10,000.
  public var connections: Int
  /// The most bytes of one request's header fields, and of its target. Default 64 KiB.
  public var headBytes: Int
  /// The most header fields of one request. Default 128.
  public var headFields: Int
  /// The most bytes of one request's body. Default 64 MiB less 64 KiB.
  public var bodyBytes: Int
  /// The most bytes of bodies, and of messages that are not whole, that are held at once, over all
  /// connections. Default 512 MiB.
  public var heldBodyBytes: Int
  /// The most bytes of one answer's body. Default 256 MiB.
  public var answerBytes: Int
  /// The most bytes of answers that wait to be sent at once, over all connections. Default 1 GiB.
  public var heldAnswerBytes: Int
  /// The most bytes of events that wait for a client of a stream to take what was sent before, each
  /// counted with what it takes to keep it; one event more is held whatever its size. A client
  /// that is slower is cut off, and begins again with what there is then. Default 8 MiB.
  public var streamBytes: Int
  /// The most bytes of one message over WebSocket, joined. Default 64 MiB less 64 KiB.
  public var messageBytes: Int
  /// The most parts one message may be sent in. Default 9,999.
  public var messageParts: Int
  /// How long a connection may take to send the head of its next request. Default 60 s.
  public var headSeconds: Int
  /// How long a request's body may take to arrive, and an answer to leave. Default 300 s.
  public var bodySeconds: Int
  /// How long a closed connection goes on delivering what was sent before. Default 5 s.
  public var lingerSeconds: Int
  /// How often a stream says that it is alive. Default 30 s.
  public var keepAliveSeconds: Int
  /// How long a poll waits for something to say. Default 25 s.
  public var pollSeconds: Int
  /// How long a session over long polling that is over waits for a poll, to tell it so. Default
  /// 30 s.
  public var pollFarewellSeconds: Int
  /// The most sessions over long polling at once. Default 1,000.
  public var pollSessions: Int

  /// The defaults.
  public init() {
    connections = 10_000
    headBytes = 64 << 10
    headFields = 128
    bodyBytes = (64 << 20) - (64 << 10)
    heldBodyBytes = 512 << 20
    answerBytes = 256 << 20
    heldAnswerBytes = 1 << 30
    streamBytes = 8 << 20
    messageBytes = (64 << 20) - (64 << 10)
    messageParts = 9_999
    headSeconds = 60
    bodySeconds = 300
    lingerSeconds = 5
    keepAliveSeconds = 30
    pollSeconds = 25
    pollFarewellSeconds = 30
    pollSessions = 1_000
  }
}
