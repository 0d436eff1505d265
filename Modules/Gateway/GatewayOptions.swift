/// The options of the endpoints for foreign clients.
public struct GatewayOptions: Hashable, Sendable {
  /// The limits on the clients of the endpoints.
  public var limits: GatewayLimits
  /// True to serve what an emulator offers beside its services, to clients on this machine: erasing
  /// databases, replacing rules. Default: false.
  public var isDevelopment = false
  /// True to serve the console, a page for browsers. Default: true.
  public var servesConsole = true

  /// The defaults, but for what is given.
  public init(limits: GatewayLimits = GatewayLimits()) {
    self.limits = limits
  }
}

/// The limits on foreign clients. A request beyond one is rejected with a message.
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
  /// The time limit for the head of a connection's next request. Default 60 s.
  public var headSeconds: Int
  /// The time limit for a request's body to arrive, and for an answer to leave. Default 300 s.
  public var bodySeconds: Int
  /// The time that a closed connection goes on delivering earlier output. Default 5 s.
  public var lingerSeconds: Int
  /// The interval of a stream's keep-alive events. Default 30 s.
  public var keepAliveSeconds: Int
  /// The limits on sessions over WebChannel.
  public var webChannel: WebChannelLimits
  /// The time that a poll waits for messages. Default 25 s.
  public var pollSeconds: Int
  /// The time that a closed session over long polling waits for a poll, to report the closure.
  /// Default 30 s.
  public var pollFarewellSeconds: Int
  /// The longest time a long-polling session lasts without a waiting poll. Default 15 s.
  public var pollAbsenceSeconds: Int
  /// The most concurrent long-polling sessions. With three quarters of them taken, an address gets
  /// no more than a sixteenth, unless it is a trusted proxy's. Default 1,000.
  public var pollSessions: Int
  /// The limits on HTTP/2 and on gRPC over it.
  public var http2: HTTP2Limits

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
    webChannel = WebChannelLimits()
    pollSeconds = 25
    pollFarewellSeconds = 30
    pollAbsenceSeconds = 15
    pollSessions = 1_000
    http2 = HTTP2Limits()
  }
}

/// The limits on clients that speak HTTP/2, and gRPC over it. A connection that floods with frames
/// is closed; the head of a request is bounded by ``GatewayLimits/headBytes``.
public struct HTTP2Limits: Hashable, Sendable {
  /// The most concurrent streams of one connection. Default 1,000: a client has one for each of
  /// its listeners.
  public var streams: Int
  /// The bytes that one stream may send before they are processed. Default 1 MiB.
  public var streamWindowBytes: Int
  /// The bytes that all streams of a connection may send before they are received. Default 4 MiB.
  public var connectionWindowBytes: Int
  /// The most bytes of one gRPC message of a client. Default 11 MiB.
  public var messageBytes: Int
  /// The most `PING`, `SETTINGS` and `PRIORITY` frames within 30 s. Default 500.
  public var controlFrames: Int
  /// The most streams that a client resets within 30 s. Default 500.
  public var resets: Int
  /// The silence of a client after which it is sent a `PING`. Default 60 s.
  public var pingSeconds: Int
  /// The time limit for an answer to a `PING`. Default 20 s.
  public var pingTimeoutSeconds: Int
  /// The time limit for calls to end once the server is stopping. Default 5 s.
  public var drainSeconds: Int

  /// The defaults.
  public init() {
    streams = 1_000
    streamWindowBytes = 1 << 20
    connectionWindowBytes = 4 << 20
    messageBytes = 11 << 20
    controlFrames = 500
    resets = 500
    pingSeconds = 60
    pingTimeoutSeconds = 20
    drainSeconds = 5
  }
}
