import TernCore
import TernSync

extension PendingTreeWrite: CustomStringConvertible {
  /// The write, and whether it would survive the end of the program.
  public var description: String { "\(write)" + (isDurable ? "" : " (not durable yet)") }

  /// The paths and new values as JSON text, as ``TernCore/TreeWrite/json()`` writes them.
  public func json() -> String { write.json() }
}

extension RejectedTreeWrite: CustomStringConvertible {
  /// The write and the server's reason.
  public var description: String { "\(write): \(reason)" }

  /// The paths and new values as JSON text, as ``TernCore/TreeWrite/json()`` writes them.
  public func json() -> String { write.json() }
}

extension TreeQueueStatus: CustomStringConvertible {
  /// The counts of pending and rejected writes.
  public var description: String { "\(pending.count) pending, \(rejected.count) rejected" }
}

extension PendingDocumentBatch: CustomStringConvertible {
  /// The writes, one after the other, and whether they would survive the end of the program.
  public var description: String {
    mutations.map(\.description).joined(separator: "; ") + (isDurable ? "" : " (not durable yet)")
  }
}

extension RejectedDocumentBatch: CustomStringConvertible {
  /// The writes, one after the other, and the server's reason.
  public var description: String {
    "\(mutations.map(\.description).joined(separator: "; ")): \(reason)"
  }
}

extension DocumentQueueStatus: CustomStringConvertible {
  /// The counts of pending and rejected batches.
  public var description: String { "\(pending.count) pending, \(rejected.count) rejected" }
}

extension DocumentSnapshotMetadata: CustomStringConvertible {
  /// The origin of the data, in words.
  public var description: String {
    (isFromCache ? "from cache" : "from the server") + (hasPendingWrites ? ", pending" : "")
  }
}

extension AuthUser: CustomStringConvertible {
  /// The id of the user; claims are left out, which may be private.
  public var description: String { uid }
}

extension AuthState: CustomStringConvertible {
  /// The state, in words.
  public var description: String {
    switch self {
    case .signedOut: "signed out"
    case .signedIn(let user): "signed in as \(user)"
    case .tokenNeeded(let user, let reason): "a new token is needed for \(user): \(reason)"
    }
  }
}
