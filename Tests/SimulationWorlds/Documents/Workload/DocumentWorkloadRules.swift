import TernCore
import TernQuery
import TernSecurity
import TernSync

/// The rules of the simulated documents, in words that share nothing with their language.
///
/// Almost everything is allowed. Collections named after a user are that user's; `locked` cannot be
/// written and `secret` cannot be listed, except while the rules of the day are open.
enum DocumentWorkloadRules {
  /// Rules that may be in force.
  enum Variant: Int, CaseIterable, Sendable {
    case closed
    /// The same verdicts, which depend on a document that clients write.
    case dependent
    /// `locked` can be written, and `secret` be listed.
    case open
  }

  /// Returns `true` if a collection is open to all users, or named after this user.
  private static func isOpen(_ collection: String, to user: QueueUser) -> Bool {
    let owner = QueueUser(collection)
    return owner == user || !WorkloadUsers.known.contains(owner)
  }

  private static func mayWrite(
    _ key: DocumentKey, by user: QueueUser, _ variant: Variant
  ) -> Bool {
    let collection = key.collection.text
    return (variant == .open || collection != "locked") && isOpen(collection, to: user)
  }

  /// Returns `true` if a user may read a query's documents.
  static func mayRead(
    _ query: DocumentQuery, by user: QueueUser, _ variant: Variant = .closed
  ) -> Bool {
    switch query.source {
    case .collection(let path):
      (variant == .open || path.text != "secret") && isOpen(path.text, to: user)
    case .document(let key): isOpen(key.collection.text, to: user)
    case .group: true
    case .all: false
    }
  }

  static func allows(
    _ mutations: [DocumentMutation], by user: QueueUser, _ variant: Variant = .closed
  ) -> Bool {
    mutations.allSatisfy { mayWrite($0.key, by: user, variant) }
  }
}

extension DocumentWorkloadRules.Variant {
  /// The rules in their language.
  var source: String {
    let users = WorkloadUsers.known.map { "'\($0.id)'" }.joined(separator: ", ")
    let (reading, writing) =
      switch self {
      case .closed: ("owner != 'secret'", "owner != 'locked'")
      case .dependent:
        (
          "(exists(/databases/$(database)/documents/items/a) ? owner != 'secret' : !(owner == 'secret'))",
          "(getAfter(/databases/$(database)/documents/items/b) == null || true) && owner != 'locked'"
        )
      case .open: ("true", "true")
      }
    return """
      rules_version = '2';
      service cloud.firestore { match /databases/{database}/documents {
        function mayUse(owner) {
          return !(owner in [\(users)]) || (request.auth != null && request.auth.uid == owner);
        }
        match /{owner}/{id} {
          allow get: if mayUse(owner);
          allow list: if \(reading) && mayUse(owner);
          allow write: if \(writing) && mayUse(owner);
        }
        match /{path=**}/parts/{id} { allow read, write; }
      } }
      """
  }

  /// The authorizer of a server under these rules.
  var authorizer: DocumentRulesAuthorizer {
    do throws(DocumentRulesError) {
      return DocumentRulesAuthorizer(DocumentRulesSet(common: try DocumentRules(source: source)))
    } catch {
      preconditionFailure("\(error)")
    }
  }
}
