import Foundation

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The domain of every error that the calls of a ``Database`` give.
///
/// They give an `NSError`, so that `catch let error as NSError` works wherever Swift does. Its code
/// is 1 for what rules deny, 2 for what cannot be reached, 3 for a write that was purged, and 0 for
/// everything else; its underlying error is a ``DatabaseError``, which ``DatabaseError/init(_:)``
/// takes out.
public let DatabaseErrorDomain = "com.firebase"

extension DatabaseError {
  /// The error that a call gave; `nil` for one of another domain.
  public init?(_ error: any Error) {
    let error = error as NSError
    guard error.domain == DatabaseErrorDomain,
      let cause = error.userInfo[NSUnderlyingErrorKey] as? DatabaseError
    else { return nil }
    self = cause
  }

  fileprivate var number: Int {
    switch self {
    case .refused("permission_denied", _): 1
    case .unavailable, .refused("unavailable", _): 2
    case .writeCanceled: 3
    default: 0
    }
  }
}

extension NSError {
  /// The error of a call whose task was cancelled.
  static var canceledWait: NSError { database(DatabaseError.waitCanceled) }

  /// The error that callers are given for any that arises below.
  static func database(_ error: any Error) -> NSError {
    let cause = error as? DatabaseError ?? .closed("The database could not be opened: \(error)")
    return NSError(
      domain: DatabaseErrorDomain, code: cause.number,
      userInfo: [
        NSLocalizedDescriptionKey: cause.localizedDescription, NSUnderlyingErrorKey: cause,
      ])
  }
}
