/// How much one address and one identity may ask of a server in a time; more is refused in words.
///
/// Counted are requests: those of sessions, those without one, and messages about documents. What
/// is `nil` is not limited.
public struct RateLimits: Hashable, Sendable {
  /// How many requests a second may come from one address, whoever asks. Default: any number.
  public var requestsPerAddress: Int?
  /// How many requests a second one user may make, from wherever. Administrators and those who are
  /// nobody in particular are not counted here. Default: any number.
  public var requestsPerIdentity: Int?
  /// For how many seconds' requests may be made at once by somebody who was quiet. Default 10.
  public var burstSeconds: Int

  /// How many addresses and identities are remembered; beyond, those that were quiet the longest are
  /// forgotten, which only does them good.
  public static let mostKnown = 65_536

  /// The defaults, but for what is given.
  public init(
    requestsPerAddress: Int? = nil, requestsPerIdentity: Int? = nil, burstSeconds: Int = 10
  ) {
    precondition(burstSeconds > 0, "nothing could be asked at all")
    self.requestsPerAddress = requestsPerAddress
    self.requestsPerIdentity = requestsPerIdentity
    self.burstSeconds = burstSeconds
  }
}
