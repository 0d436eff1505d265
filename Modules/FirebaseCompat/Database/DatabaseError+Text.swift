public import Foundation

extension DatabaseError: LocalizedError {
  /// The reason, in words, for `localizedDescription`.
  public var errorDescription: String? {
    switch self {
    case .refused(let code, let message): message.isEmpty ? code : "\(code): \(message)"
    case .invalid(let reason), .closed(let reason): reason
    case .writeCanceled: "The write was purged before the server answered."
    case .waitCanceled: "The wait was canceled; the operation goes on."
    case .maxRetry: "The transaction lost against other writers as often as it may."
    case .overridden: "A write to the same place overtook the transaction."
    case .unavailable: "The server cannot be reached, and the cache has no answer."
    case .tooManyWaiting(let limit): "\(limit) calls of this kind wait; no more may."
    case .notStored(let reason): "This device could not store the write: \(reason)"
    case .settingsFrozen(let setting): "\(setting) can be changed before the first use only."
    case .cacheSizeTooSmall(let bytes, let minimum):
      "A cache of \(bytes) bytes is too small, the minimum is \(minimum)."
    }
  }
}
