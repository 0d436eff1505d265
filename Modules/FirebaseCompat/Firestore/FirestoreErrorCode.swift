import Foundation
import TernClient
import TernCore
import TernSync

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The domain of every error that Firestore's calls give: an `NSError` with a code of
/// ``FirestoreErrorCode/Code``.
public let FirestoreErrorDomain = "FIRFirestoreErrorDomain"

/// The reason a call failed.
///
/// Callers are given an `NSError`, so that `catch let error as NSError` works wherever Swift does.
/// Its `localizedDescription` names the rule or the server's words, and its underlying error is
/// the typed one: ``FirestoreArgumentError`` or `DocumentsError`.
public struct FirestoreErrorCode: Error, Hashable, Sendable {
  /// The kind of failure; the raw value is the number on the wire.
  public enum Code: Int, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The call succeeded.
    case OK = 0
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
    /// An invariant of the server or the client is broken.
    case `internal` = 13
    /// The server cannot serve the request now; retry later.
    case unavailable = 14
    /// Stored data are lost or corrupt.
    case dataLoss = 15
    /// The credential is missing or invalid.
    case unauthenticated = 16
  }

  /// The kind of failure.
  public let code: Code

  /// Names a kind of failure.
  public init(_ code: Code) { self.code = code }

  /// The kind of an error that a call gave; `nil` for one of another domain.
  public init?(_ error: any Error) {
    let error = error as NSError
    guard error.domain == FirestoreErrorDomain, let code = Code(rawValue: error.code) else {
      return nil
    }
    self.code = code
  }

  /// Lets `catch FirestoreErrorCode.unavailable` be written.
  public static func ~= (pattern: FirestoreErrorCode, error: any Error) -> Bool {
    FirestoreErrorCode(error) == pattern
  }
}

extension FirestoreErrorCode {
  /// The call was given up.
  public static let cancelled = Code.cancelled
  /// The server did not say why.
  public static let unknown = Code.unknown
  /// An argument breaks a rule. Correct it.
  public static let invalidArgument = Code.invalidArgument
  /// The answer did not come in time. Try again.
  public static let deadlineExceeded = Code.deadlineExceeded
  /// A document that should exist does not.
  public static let notFound = Code.notFound
  /// A document that should not exist does.
  public static let alreadyExists = Code.alreadyExists
  /// The rules deny it.
  public static let permissionDenied = Code.permissionDenied
  /// A limit or a quota is reached. Wait.
  public static let resourceExhausted = Code.resourceExhausted
  /// The system is not in the state that the call needs.
  public static let failedPrecondition = Code.failedPrecondition
  /// Another client wrote at the same time. Try again.
  public static let aborted = Code.aborted
  /// A number is out of range.
  public static let outOfRange = Code.outOfRange
  /// The server does not do this.
  public static let unimplemented = Code.unimplemented
  /// Something is broken.
  public static let `internal` = Code.internal
  /// The server cannot be reached. Try again.
  public static let unavailable = Code.unavailable
  /// Data is damaged.
  public static let dataLoss = Code.dataLoss
  /// The server does not know who asks. Sign in.
  public static let unauthenticated = Code.unauthenticated
}

extension FirestoreErrorCode.Code {
  /// Lets `catch FirestoreErrorCode.unavailable` be written.
  public static func ~= (pattern: FirestoreErrorCode.Code, error: any Error) -> Bool {
    FirestoreErrorCode(error)?.code == pattern
  }

  /// An error of this kind.
  func error(_ message: String, because cause: (any Error)? = nil) -> NSError {
    var userInfo: [String: Any] = [NSLocalizedDescriptionKey: message]
    if let cause { userInfo[NSUnderlyingErrorKey] = cause }
    return NSError(domain: FirestoreErrorDomain, code: rawValue, userInfo: userInfo)
  }
}

extension NSError {
  /// The error that callers are given for any that arises below.
  static func firestore(_ error: any Error) -> NSError {
    switch error {
    case let error as FirestoreArgumentError:
      return FirestoreErrorCode.invalidArgument.error(error.text, because: error)
    case let error as DocumentsError: return firestore(error)
    case let error as NSError where error.domain == FirestoreErrorDomain: return error
    default:
      return FirestoreErrorCode.internal.error(
        "The database could not be opened: \(error)", because: error)
    }
  }

  private static func firestore(_ error: DocumentsError) -> NSError {
    switch error {
    case .invalid(let mistake): firestore(FirestoreArgumentError.document(mistake))
    case .invalidQuery(let mistake): firestore(FirestoreArgumentError.query(mistake))
    case .coding:
      FirestoreErrorCode.invalidArgument.error(
        "The value cannot be coded: \(error)", because: error)
    case .invalidBundle(let mistake):
      FirestoreErrorCode.invalidArgument.error(
        "The bundle cannot be read: \(mistake)", because: error)
    case .refused(let status):
      (FirestoreErrorCode.Code(rawValue: status.code.rawValue) ?? .unknown).error(
        status.message, because: error)
    case .queue(let failure): firestore(failure, error)
    case .cancelled: FirestoreErrorCode.cancelled.error("The wait was given up.", because: error)
    case .timedOut: FirestoreErrorCode.deadlineExceeded.error("\(error)", because: error)
    case .closed, .notOpened:
      FirestoreErrorCode.failedPrecondition.error(
        "The client has been terminated; writes that wait stay queued.", because: error)
    }
  }

  private static func firestore(_ failure: QueueError, _ error: DocumentsError) -> NSError {
    switch failure {
    case .queueFull, .queueBytesFull, .writeTooLarge, .tooManyUsers:
      FirestoreErrorCode.resourceExhausted.error(
        "The write was not stored: \(failure)", because: error)
    default:
      FirestoreErrorCode.internal.error("The write was not stored: \(failure)", because: error)
    }
  }
}
