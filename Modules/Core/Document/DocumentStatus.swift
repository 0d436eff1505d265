/// Why a request about documents failed, in the codes that clients and servers share.
///
/// Source: documents reference, section 6.7.
public struct DocumentStatus: Error, Hashable, Sendable {
  /// What kind of failure it is; the raw value is the number on the wire.
  public enum Code: Int, Hashable, Sendable, CaseIterable {
    case cancelled = 1
    case unknown = 2
    case invalidArgument = 3
    case deadlineExceeded = 4
    case notFound = 5
    case alreadyExists = 6
    case permissionDenied = 7
    case resourceExhausted = 8
    case failedPrecondition = 9
    case aborted = 10
    case outOfRange = 11
    case unimplemented = 12
    case internalError = 13
    case unavailable = 14
    case dataLoss = 15
    case unauthenticated = 16

    /// Whether the same request can never succeed; the others may be sent again.
    public var isPermanent: Bool {
      switch self {
      case .cancelled, .unknown, .deadlineExceeded, .resourceExhausted, .internalError,
        .unavailable, .unauthenticated:
        false
      case .invalidArgument, .notFound, .alreadyExists, .permissionDenied, .failedPrecondition,
        .aborted, .outOfRange, .unimplemented, .dataLoss:
        true
      }
    }

    /// Whether a write that got this answer is rejected for good; an aborted one is sent again.
    public var rejectsWrite: Bool { isPermanent && self != .aborted }
  }

  /// What kind of failure it is.
  public let code: Code
  /// What happened, for people.
  public let message: String

  /// Describes a failure.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}
