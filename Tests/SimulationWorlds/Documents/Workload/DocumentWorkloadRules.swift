import TernCore
import TernQuery
import TernSecurity
import TernSync

/// The rules of the simulated documents: almost everything is allowed.
struct DocumentWorkloadRules: DocumentAuthorizer {
  func allows(
    _ access: DocumentAccess, by requester: Requester, now: Int64,
    documents: (DocumentKey) -> Document
  ) -> Bool {
    switch access {
    case .write(let write): Self.mayWrite(write.after.key, by: requester.queueUser)
    case .get(let document):
      Self.isOpen(document.key.collection.text, to: requester.queueUser)
    case .list(let query): Self.mayRead(query, by: requester.queueUser)
    case .listCollections, .privileged: true
    }
  }

  /// Returns `true` if a collection is open to all users, or named after this user.
  private static func isOpen(_ collection: String, to user: QueueUser) -> Bool {
    let owner = QueueUser(collection)
    return owner == user || !WorkloadUsers.known.contains(owner)
  }

  static func mayWrite(_ key: DocumentKey, by user: QueueUser) -> Bool {
    let collection = key.collection.text
    return collection != "locked" && isOpen(collection, to: user)
  }

  /// Returns `true` if a user may read a query's documents.
  static func mayRead(_ query: DocumentQuery, by user: QueueUser) -> Bool {
    switch query.source {
    case .collection(let path): path.text != "secret" && isOpen(path.text, to: user)
    case .document(let key): isOpen(key.collection.text, to: user)
    case .group: true
    case .all: false
    }
  }
}
