/// The limits on sessions over WebChannel, which browsers use to listen to and write documents.
public struct WebChannelLimits: Hashable, Sendable {
  /// The most concurrent sessions. Default 10,000.
  public var sessions: Int
  /// The most concurrent sessions of one address. Default 2,000.
  public var sessionsPerAddress: Int
  /// The most bytes of one request's form body. Default 11 MiB.
  public var formBytes: Int
  /// The most messages of one request, and the most that wait for an earlier one. Default 1,000.
  public var maps: Int
  /// The most unacknowledged arrays; the server's messages wait beyond it. Default 1,000.
  public var keptArrays: Int
  /// The most bytes of unacknowledged arrays, before one more of any size. Default 1 MiB.
  public var keptBytes: Int
  /// The size at which the response of a back channel ends, to be acknowledged. Default 1 MiB.
  public var responseBytes: Int
  /// The time at which the response of a back channel ends, whatever it carried. Default 50 s.
  public var responseSeconds: Int
  /// The interval of keep-alive arrays on a silent back channel. Default 30 s.
  public var keepAliveSeconds: Int
  /// The longest time that a session lasts without a back channel. Default 60 s.
  public var absenceSeconds: Int

  /// The defaults.
  public init() {
    sessions = 10_000
    sessionsPerAddress = 2_000
    formBytes = 11 << 20
    maps = 1_000
    keptArrays = 1_000
    keptBytes = 1 << 20
    responseBytes = 1 << 20
    responseSeconds = 50
    keepAliveSeconds = 30
    absenceSeconds = 60
  }

  /// The bytes charged for a session, beside what it carries.
  static let sessionBytes = 8 << 10
  /// The bytes charged for keeping one array, beside its text.
  static let arrayBytes = 64
  /// The shortest time that a long poll is held.
  static let leastHoldMilliseconds = 1_000
  /// The highest number of a request, message or array.
  static let lastNumber = 1 << 53
}
