import TernCore
import TernQuery
import TernSecurity
import TernSync

/// The documents that a verdict of rules rests on, as the model knows them.
struct NaiveAccessState {
  let user: QueueUser
  /// The documents before the request.
  let documents: [DocumentKey: NaiveDocument]
  /// The documents after it; those before for a request that reads.
  let after: [DocumentKey: NaiveDocument]

  init(
    _ user: QueueUser, _ documents: [DocumentKey: NaiveDocument],
    after: [DocumentKey: NaiveDocument]? = nil
  ) {
    self.user = user
    self.documents = documents
    self.after = after ?? documents
  }

  /// `true` for a user that has signed in.
  var isSignedIn: Bool { user != .nobody }
}

/// One write of a batch as rules see it, its precondition taken as holding.
struct NaiveStep {
  enum Method { case create, update, delete, verify }

  let key: DocumentKey
  let method: Method
  let before: DocumentFields?
  let after: DocumentFields?
}

/// The rules that a server judges by: those of every world, or a rule book.
enum RulesInForce {
  /// ``DocumentWorkloadRules``, which rest on no document.
  case fixed
  case book(DocumentRuleBook)

  /// The authorizer of a server that is started with these rules.
  var authorizer: any DocumentAuthorizer {
    switch self {
    case .fixed: DocumentWorkloadRules()
    case .book(let book): DocumentRulesAuthorizer(DocumentRulesSet(common: book.rules))
    }
  }

  /// Returns `true` if a query, or a single document, may be read.
  func mayRead(_ query: DocumentQuery, _ state: NaiveAccessState) -> Bool {
    switch (self, query.source) {
    case (.fixed, _): DocumentWorkloadRules.mayRead(query, by: state.user)
    case (.book(let book), .document(let key)):
      book.mayGet(key, state.documents[key]?.fields, state)
    case (.book(let book), _): book.mayList(query, state)
    }
  }

  /// Returns `true` if a document that a query has found may be seen by its reader.
  func mayFind(_ document: Document, _ query: DocumentQuery, _ state: NaiveAccessState) -> Bool {
    guard case .book(let book) = self else { return true }
    if case .document = query.source { return book.mayGet(document.key, document.fields, state) }
    return book.mayFind(document, state)
  }

  /// Returns `true` if every write of a batch may be made.
  func allows(_ steps: [NaiveStep], _ state: NaiveAccessState) -> Bool {
    steps.allSatisfy { step in
      switch self {
      case .fixed: DocumentWorkloadRules.mayWrite(step.key, by: state.user)
      case .book(let book): book.mayWrite(step, state)
      }
    }
  }
}
