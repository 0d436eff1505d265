import TernCore
import TernQuery
import TernSecurity
import TernSync

/// What may be done with the simulated documents: almost everything.
struct DocumentPlaygroundRules: DocumentAuthorizer {
  func allows(
    _ access: DocumentAccess, by requester: Requester, now: Int64,
    documents: (DocumentKey) -> Document
  ) -> Bool {
    switch access {
    case .write(_, let after): Self.mayWrite(after.key, by: requester.queueUser)
    case .get(let document):
      Self.isOpen(document.key.collection.text, to: requester.queueUser)
    case .list(let query): Self.mayRead(query, by: requester.queueUser)
    case .listCollections: true
    }
  }

  /// Whether a collection is everybody's, or this user's: there is one of the name of each.
  private static func isOpen(_ collection: String, to user: QueueUser) -> Bool {
    let owner = QueueUser(collection)
    return owner == user || !PlaygroundUsers.known.contains(owner)
  }

  private static func mayWrite(_ key: DocumentKey, by user: QueueUser) -> Bool {
    let collection = key.collection.text
    return collection != "locked" && isOpen(collection, to: user)
  }

  /// Whether somebody may see what a query asks for.
  static func mayRead(_ query: DocumentQuery, by user: QueueUser) -> Bool {
    switch query.source {
    case .collection(let path): path.text != "secret" && isOpen(path.text, to: user)
    case .document(let key): isOpen(key.collection.text, to: user)
    case .group: true
    }
  }

  static func allows(_ mutations: [DocumentMutation], by user: QueueUser) -> Bool {
    mutations.allSatisfy { mayWrite($0.key, by: user) }
  }
}
