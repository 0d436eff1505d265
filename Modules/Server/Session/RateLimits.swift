/// The request rates of one address and one identity; requests beyond are rejected with a message.
///
/// Counted are requests: those of sessions, those without one, and messages about documents. What
/// is `nil` is not limited.
public struct RateLimits: Hashable, Sendable {
  /// The limit on requests per second from one address, for all identities together. Default: any
  /// number.
  public var requestsPerAddress: Int?
  /// The limit on requests per second of one user, from all addresses. Administrators and anonymous
  /// clients are not counted here. Default: any number.
  public var requestsPerIdentity: Int?
  /// The number of seconds whose requests a quiet client may make at once. Default 10.
  public var burstSeconds: Int

  /// The number of addresses and identities that are remembered; beyond, those that were quiet the
  /// longest are forgotten, which is to their advantage.
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
