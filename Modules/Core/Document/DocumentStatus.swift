/// The failure of a request about documents, in the codes that clients and servers share.
///
/// Source: documents reference, section 6.7.
public struct DocumentStatus: Error, Hashable, Sendable {
  /// The kind of failure; the raw value is the number on the wire.
  public enum Code: Int, Hashable, Sendable, CaseIterable {
    /// The caller cancelled the request.
    case cancelled = 1
    /// An error without a better code.
    case unknown = 2
    /// The request breaks a rule, whatever the state of the database.
    case invalidArgument = 3
    /// The time ran out before the request was done.
    case deadlineExceeded = 4
    /// The document does not exist.
    case notFound = 5
    /// The document exists already.
    case alreadyExists = 6
    /// Rules deny the request.
    case permissionDenied = 7
    /// A limit or the disk space is used up.
    case resourceExhausted = 8
    /// The state of the database does not admit the request.
    case failedPrecondition = 9
    /// A concurrent change got in the way; retry from the start.
    case aborted = 10
    /// A value is beyond the valid range.
    case outOfRange = 11
    /// The server does not have the operation.
    case unimplemented = 12
    /// A failure inside the server.
    case internalError = 13
    /// The server cannot serve the request now; retry later.
    case unavailable = 14
    /// Stored data are lost or corrupt.
    case dataLoss = 15
    /// The credential is missing or invalid.
    case unauthenticated = 16

    /// True when the same request can never succeed; requests that fail with the others may be
    /// retried.
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

    /// True when a write with this outcome is rejected for good; an aborted one is retried.
    public var rejectsWrite: Bool { isPermanent && self != .aborted }
  }

  /// The kind of failure.
  public let code: Code
  /// A description of the failure, for logs and developers.
  public let message: String

  /// Describes a failure.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}
