package import TernCore

/// The request that rules judge, about one document.
///
/// Source: firestore reference, section 6.7.
///
/// A value is what one statement sees; the judge of a commit makes one for each write, and the
/// proof of a query one for all documents together.
package struct DocumentRulesRequest: Sendable {
  /// The documents that a write is about.
  package enum Change: Sendable {
    /// The request writes nothing: `request.resource` is absent.
    case none
    /// The state of the document after the write; `nil`: deleted, `request.resource` is null.
    case write(DocumentFields?)
  }

  /// The method: exactly one.
  package var method: DocumentRuleMethods
  /// The document.
  package var key: DocumentKey
  /// The database it is in, without the project.
  ///
  /// It decides which paths of `get` and `exists` can be read: documents of other databases cannot.
  package var databaseID: String
  /// The time of the request; for a write the time of the commit.
  package var time: DocumentTimestamp
  /// `request.auth`: null, or a map of `uid` and `token`.
  package var auth: DocumentRuleValue
  /// The fields before the request; `nil` when the document does not exist.
  package var resource: DocumentFields?
  /// The fields after the request.
  package var change: Change
  /// `request.query`, for a list.
  ///
  /// Set for lists only; other methods have no `request.query`.
  package var query: DocumentRuleValue?

  /// Describes a request.
  package init(
    _ method: DocumentRuleMethods, _ key: DocumentKey, in databaseID: String,
    at time: DocumentTimestamp, auth: DocumentRuleValue, resource: DocumentFields?,
    change: Change = .none, query: DocumentRuleValue? = nil
  ) {
    self.method = method
    self.key = key
    self.databaseID = databaseID
    self.time = time
    self.auth = auth
    self.resource = resource
    self.change = change
    self.query = query
  }
}

extension DocumentRulesRequest {
  /// `resource`: null, or the document before the request.
  package var resourceValue: DocumentRuleValue {
    guard let resource else { return .null }
    return .map(DocumentRuleMap(DocumentRuleResource(key, resource, in: databaseID)))
  }

  /// A member of `request`; `nil` when the request has none of that name.
  package func member(_ name: String) -> DocumentRuleValue? {
    switch name {
    case "auth": return auth
    case "method": return .string(method.text)
    case "path": return .path(DocumentRulePath(key, in: databaseID))
    case "time": return .timestamp(DocumentRuleTime(time))
    case "query": return query
    case "resource":
      switch change {
      case .none: return nil
      case .write(nil): return .null
      case .write(let fields?):
        return .map(DocumentRuleMap(DocumentRuleResource(key, fields, in: databaseID)))
      }
    default: return nil
    }
  }

  /// `request` as a whole.
  ///
  /// Members that are absent for the method are left out and not null, so that reading one is a
  /// fault, as in the service.
  package var value: DocumentRuleValue {
    let names = ["auth", "method", "path", "query", "resource", "time"]
    return .map(DocumentRuleMap(names.compactMap { name in member(name).map { (name, $0) } }))
  }
}

extension DocumentRuleMethods {
  /// The name of a single method.
  package var text: String {
    switch self {
    case .get: "get"
    case .list: "list"
    case .create: "create"
    case .update: "update"
    default: "delete"
    }
  }
}

/// The documents that rules read with `get` and its sisters.
///
/// The closures are called during evaluation, for at most
/// ``DocumentRulesLimits/documentsPerRequest`` different documents, and must not block.
package struct DocumentRulesState {
  /// The state of a document before the request, as of the request's snapshot.
  package let before: (DocumentKey) -> DocumentFields?
  /// The state after all writes of the request; for reads the same as ``before``.
  package let after: (DocumentKey) -> DocumentFields?

  /// Two views of the documents.
  package init(
    before: @escaping (DocumentKey) -> DocumentFields?,
    after: @escaping (DocumentKey) -> DocumentFields?
  ) {
    self.before = before
    self.after = after
  }

  /// The documents of a request that writes nothing.
  package init(_ documents: @escaping (DocumentKey) -> DocumentFields?) {
    self.init(before: documents, after: documents)
  }
}

/// The work that the rules of one request may do, and what they have read.
///
/// One budget serves all operations of a request: the writes of a commit, or the documents of a
/// batch of reads. Source: firestore reference, sections 6.4 and 6.6.
package struct DocumentRulesBudget: Sendable {
  private let operationLimit: Int
  private let requestLimit: Int
  /// The documents that the rules of the current operation have read.
  private var operationKeys: Set<DocumentKey> = []
  /// The documents that any operation so far has read. A document counts once for the request, and
  /// once for each operation that reads it.
  private var requestKeys: Set<DocumentKey> = []
  /// The documents read so far, each once, in the order of the first read.
  package private(set) var reads: [DocumentKey] = []
  /// The expressions that the current operation may still evaluate.
  package private(set) var expressions = DocumentRulesLimits.expressions
  /// The steps of regular expressions that the current operation may still take.
  package var patternSteps = DocumentRulesLimits.patternSteps

  private init(operationLimit: Int, requestLimit: Int) {
    self.operationLimit = operationLimit
    self.requestLimit = requestLimit
  }

  /// The budget of a request that is about one document.
  package static var single: DocumentRulesBudget {
    DocumentRulesBudget(
      operationLimit: DocumentRulesLimits.documentsPerOperation,
      requestLimit: DocumentRulesLimits.documentsPerOperation)
  }

  /// The budget of a commit, or of a batch of reads.
  package static var several: DocumentRulesBudget {
    DocumentRulesBudget(
      operationLimit: DocumentRulesLimits.documentsPerOperation,
      requestLimit: DocumentRulesLimits.documentsPerRequest)
  }

  /// The budget of a query.
  package static var query: DocumentRulesBudget {
    DocumentRulesBudget(
      operationLimit: DocumentRulesLimits.documentsPerRequest,
      requestLimit: DocumentRulesLimits.documentsPerRequest)
  }

  /// Begins the next operation of the request.
  ///
  /// Expressions and pattern steps begin anew; the documents of the request stay counted.
  package mutating func beginOperation() {
    operationKeys.removeAll(keepingCapacity: true)
    expressions = DocumentRulesLimits.expressions
    patternSteps = DocumentRulesLimits.patternSteps
  }

  /// Counts expressions.
  ///
  /// - Throws: ``DocumentRuleFault/exhausted`` when there were too many.
  @inline(__always)
  package mutating func count(_ number: Int) throws(DocumentRuleFault) {
    expressions -= number
    if expressions < 0 { throw .exhausted }
  }

  /// Counts the read of a document; false when it is one too many.
  ///
  /// A repeated read of a document is free. The order of the checks matters: a document that
  /// another operation has read counts for the operation and not again for the request.
  package mutating func countRead(of key: DocumentKey) -> Bool {
    if operationKeys.contains(key) { return true }
    if operationKeys.count >= operationLimit { return false }
    if !requestKeys.contains(key) {
      if requestKeys.count >= requestLimit { return false }
      requestKeys.insert(key)
      reads.append(key)
    }
    operationKeys.insert(key)
    return true
  }
}
