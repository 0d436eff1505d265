import TernClient
import TernCore
import TernQuery
import TernSync
import TernTransactions

/// The error of a call to the database; calls give it inside of an `NSError`, see
/// ``DatabaseErrorDomain``.
public enum DatabaseError: Error, Hashable, Sendable {
  /// The server refused: its status word, such as `permission_denied`, and its text.
  case refused(code: String, message: String)
  /// The value or the path breaks a rule; nothing was written.
  case invalid(String)
  /// The write was purged before the server answered.
  case writeCanceled
  /// The waiting task was cancelled; the operation goes on.
  case waitCanceled
  /// The transaction lost against other writers as often as it may.
  case maxRetry
  /// A plain write to the same place overtook the transaction.
  case overridden
  /// The server cannot be reached, and the cache has no answer.
  case unavailable
  /// As many calls of this kind wait as may; wait for some.
  case tooManyWaiting(limit: Int)
  /// This device could not store the write.
  case notStored(String)
  /// The database could not be opened, or was closed.
  case closed(String)
  /// A setting was changed after the first use of the database.
  case settingsFrozen(String)
  /// The cache would be smaller than the smallest allowed, in bytes.
  case cacheSizeTooSmall(UInt, minimum: UInt)

  /// The word that names the error, as the server's protocol spells it.
  public var code: String {
    switch self {
    case .refused(let code, _): code
    case .invalid: "invalid_argument"
    case .writeCanceled: "write_canceled"
    case .waitCanceled: "wait_canceled"
    case .maxRetry: "maxretry"
    case .overridden: "set"
    case .unavailable: "unavailable"
    case .tooManyWaiting: "too_many_waiting"
    case .notStored: "not_stored"
    case .closed: "closed"
    case .settingsFrozen: "settings_frozen"
    case .cacheSizeTooSmall: "cache_size_too_small"
    }
  }
}

extension DatabaseError {
  init(_ rejection: Rejection) {
    self = .refused(code: rejection.status, message: rejection.detail)
  }

  init(_ error: ListenError) {
    switch error {
    case .rejected(let rejection): self.init(rejection)
    case .invalid(let error): self = .invalid("\(error)")
    case .invalidQuery(let error): self = .invalid("\(error)")
    case .overflow(let limit): self = .invalid("more than \(limit) events wait")
    case .closed: self = .closed("the database was closed")
    }
  }

  init(_ error: ReadError) {
    switch error {
    case .rejected(let rejection): self.init(rejection)
    case .invalid(let error): self = .invalid("\(error)")
    case .invalidQuery(let error): self = .invalid("\(error)")
    case .offline: self = .unavailable
    case .tooManyWaiting(let limit): self = .tooManyWaiting(limit: limit)
    case .cancelled: self = .waitCanceled
    case .closed: self = .closed("the database was closed")
    }
  }

  init(_ error: DisconnectError) {
    switch error {
    case .rejected(let rejection): self.init(rejection)
    case .invalid(let error): self = .invalid("\(error)")
    case .tooManyWaiting(let limit): self = .tooManyWaiting(limit: limit)
    case .cancelled: self = .waitCanceled
    case .closed: self = .closed("the database was closed")
    }
  }

  init(_ error: TransactionError) {
    switch error {
    case .tooManyAttempts: self = .maxRetry
    case .overridden: self = .overridden
    case .cancelled: self = .writeCanceled
    case .notStored(let error): self = .notStored("\(error)")
    case .tooManyWaiting(let limit): self = .tooManyWaiting(limit: limit)
    case .rejected(let rejection): self.init(rejection)
    case .closureLost: self = .closed("the program ended before the transaction was committed")
    case .undeclared(let name): self = .invalid("no transaction \"\(name)\" is declared")
    case .invalidResult(let reason): self = .invalid(reason)
    }
  }

  /// The error of a write that ended without being acknowledged; `nil` when it was.
  init?(_ end: WriteEnd) {
    switch end {
    case .accepted: return nil
    case .rejected(let rejection): self.init(rejection)
    case .purged: self = .writeCanceled
    case .waitCancelled, .waitExpired: self = .waitCanceled
    case .closed: self = .closed("the database was closed; the write stays queued")
    case .notStored(let error): self = .notStored("\(error)")
    }
  }
}
