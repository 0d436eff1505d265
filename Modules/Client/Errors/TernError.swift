public import TernCore
import TernDocumentWire
public import TernQuery
public import TernStorage
public import TernSync
public import TernTransactions
public import TernTransport

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An error of this library: its text is one sentence for a developer or a user.
///
/// Every error that the public calls throw conforms, so that one `catch let error as any TernError`
/// takes them all, and an alert that shows `localizedDescription` says something.
public protocol TernError: LocalizedError, CustomStringConvertible, Sendable {}

extension TernError {
  /// The same as ``Swift/CustomStringConvertible/description``, for `localizedDescription`.
  public var errorDescription: String? { description }
  /// The description says it all.
  public var failureReason: String? { nil }
  /// The description says it all.
  public var recoverySuggestion: String? { nil }
  /// There is no help book.
  public var helpAnchor: String? { nil }
}

// MARK: - Errors of the modules below

extension TreeError: TernError {}
extension TreeQueryError: TernError {}
extension DocumentIndexError: TernError {}
extension BundleError: TernError {}
extension StorageError: TernError {}
extension QueueError: TernError {}
extension TransportError: TernError {}

extension DocumentError: TernError {
  /// The broken rule, in words.
  public var description: String { text }
}

extension DocumentQueryError: TernError {
  /// The broken rule, in words.
  public var description: String { text }
}

extension Rejection: TernError {
  /// The server's status word and its text.
  public var description: String { detail.isEmpty ? status : "\(status): \(detail)" }
}

extension TransactionError: TernError {
  /// The reason, and the way out where there is one.
  public var description: String {
    switch self {
    case .tooManyAttempts(let limit):
      "other clients changed the data \(limit) times; try again later"
    case .overridden: "another write of this client replaced the transaction"
    case .cancelled: "the transaction was cancelled"
    case .notStored(let error): "the transaction was not stored: \(error)"
    case .tooManyWaiting(let limit): "\(limit) transactions are undecided; wait for some of them"
    case .rejected(let rejection): "the server rejected the transaction: \(rejection)"
    case .closureLost: "the program ended before the transaction was committed"
    case .undeclared(let name): "no transaction named \"\(name)\" is declared"
    case .invalidResult(let reason): "the transaction's result is invalid: \(reason)"
    }
  }
}
