import TernCore
import TernQuery
import TernSecurity

/// What may be done with the simulated documents: almost everything.
struct DocumentPlaygroundRules: DocumentAuthorizer {
  func allows(
    _ access: DocumentAccess, by requester: Requester, now: Int64,
    documents: (DocumentKey) -> Document
  ) -> Bool {
    switch access {
    case .write(_, let after): !DocumentPlaygroundRules.isLocked(after.key)
    case .get, .listCollections: true
    case .list(let query): !DocumentPlaygroundRules.isSecret(query)
    }
  }

  /// Whether nobody may write a document.
  private static func isLocked(_ key: DocumentKey) -> Bool { key.collection.text == "locked" }

  /// Whether nobody may see what a query asks for.
  static func isSecret(_ query: DocumentQuery) -> Bool {
    if case .collection(let path) = query.source { return path.text == "secret" }
    return false
  }

  static func allows(_ mutations: [DocumentMutation]) -> Bool {
    !mutations.contains { isLocked($0.key) }
  }
}
