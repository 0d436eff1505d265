public import TernCore
public import TernQuery

/// A request for access to documents.
public enum DocumentAccess: Hashable, Sendable {
  /// To read one document, as it is or is not.
  case get(Document)
  /// To read or watch what a query selects.
  case list(DocumentQuery)
  /// To see the ids of the collections below a document, or at the root.
  case listCollections(below: DocumentKey?)
  /// To leave a document as it is afterwards, made, changed or deleted.
  case write(DocumentWriteAccess)
  /// To do what clients of users never need, in addition to what it reads and writes.
  case privileged(DocumentPrivilege)
}

/// One write of a commit, as rules see it.
public struct DocumentWriteAccess: Hashable, Sendable {
  /// The kind of a write.
  public enum Method: String, Hashable, Sendable {
    /// The document comes to be.
    case create
    /// The document changes, or is replaced.
    case update
    /// The document ceases to exist, or is to be missing.
    case delete
  }

  /// The kind of the write.
  public let method: Method
  /// The document before the write, with the effects of earlier writes of the commit.
  public let before: Document
  /// The document after the write, server values resolved.
  public let after: Document

  /// Describes a write.
  ///
  /// - Parameter method: `nil` for the one that the two states tell.
  public init(before: Document, after: Document, method: Method? = nil) {
    self.before = before
    self.after = after
    self.method = method ?? (after.isFound ? before.isFound ? .update : .create : .delete)
  }
}

/// Operations that rules cannot grant: servers allow them to administrators alone, and where access
/// is decided without rules.
///
/// Source: server reference, section 1.4.
public enum DocumentPrivilege: Hashable, Sendable {
  /// A transaction that reads and writes, begun at the server.
  case readWriteTransaction
  /// Several writes, each a commit of its own.
  case batchWrite
  /// The cursors that divide the result of a query.
  case partition
}

/// The documents of one request: as they are, and as they would be after it.
public struct DocumentAccessState {
  /// Answers what a document is before the request.
  public let before: (DocumentKey) -> Document
  /// Answers what a document is after all writes of the request.
  public let after: (DocumentKey) -> Document
  /// The dependencies of verdicts on other parts of the same request, which count towards its
  /// limits.
  public let asked: Set<DocumentKey>

  /// Describes the documents of a request.
  ///
  /// - Parameter after: `nil` for a request that writes nothing.
  public init(
    asked: Set<DocumentKey> = [], before: @escaping (DocumentKey) -> Document,
    after: ((DocumentKey) -> Document)? = nil
  ) {
    self.asked = asked
    self.before = before
    self.after = after ?? before
  }
}

/// The decision about a request for access to documents.
///
/// A listen keeps its verdict until one of the dependencies changes; without dependencies it is
/// judged again before each push.
public struct DocumentVerdict: Hashable, Sendable {
  /// The denial; `nil` when everything is allowed.
  public var refusal: AccessRefusal?
  /// The documents that the decision rests on, in addition to those of the request: it stays the
  /// same while they do. `nil` when it may change at any time.
  public var dependencies: Set<DocumentKey>?

  /// A decision.
  public init(refusal: AccessRefusal?, dependencies: Set<DocumentKey>? = nil) {
    self.refusal = refusal
    self.dependencies = dependencies
  }

  /// True when everything is allowed.
  public var isAllowed: Bool { refusal == nil }
}

/// Decides who may read and write which documents. Must not block.
public protocol DocumentAuthorizer: Sendable {
  /// Returns true when an access is allowed.
  ///
  /// - Parameters:
  ///   - requester: Who asks; the namespace is the resource name of the database.
  ///   - now: The time of the request in milliseconds since 1970.
  ///   - documents: Answers what a document is before the request.
  func allows(
    _ access: DocumentAccess, by requester: Requester, now: Int64,
    documents: (DocumentKey) -> Document
  ) -> Bool

  /// The decision that holds for everything the requester can ask, whatever the documents are;
  /// `nil` when it depends on the access. A denial costs no reads then. Default: `nil`.
  func blanketVerdict(for requester: Requester) -> Bool?

  /// Decides about all parts of one request; all must be allowed. Servers call this one.
  ///
  /// - Parameters:
  ///   - accesses: The parts, those of a commit in the order of its writes.
  ///   - time: The time of the request; for a commit the one that its server values take.
  ///   - state: The documents before and after the request.
  func verdict(
    on accesses: [DocumentAccess], by requester: Requester, time: DocumentTimestamp,
    in state: DocumentAccessState
  ) -> DocumentVerdict

  /// True when verdicts name their dependencies, so that listens need no verdict for every push.
  /// Default: false.
  var namesDependencies: Bool { get }

  /// Returns the authorizer for a database with rules received over the wire. It reports denials to
  /// the place where this one reports its own; by default, nowhere.
  func judging(by rules: DocumentRules) -> any DocumentAuthorizer
}

extension DocumentAuthorizer {
  public func blanketVerdict(for requester: Requester) -> Bool? { nil }

  public var namesDependencies: Bool { false }

  public func judging(by rules: DocumentRules) -> any DocumentAuthorizer {
    DocumentRulesAuthorizer(DocumentRulesSet(common: rules))
  }

  public func verdict(
    on accesses: [DocumentAccess], by requester: Requester, time: DocumentTimestamp,
    in state: DocumentAccessState
  ) -> DocumentVerdict {
    let now = time.microseconds / 1_000
    let isAllowed = accesses.allSatisfy {
      allows($0, by: requester, now: now, documents: state.before)
    }
    return DocumentVerdict(refusal: isAllowed ? nil : AccessRefusal())
  }
}

extension AllowLocal: DocumentAuthorizer {
  public func allows(
    _ access: DocumentAccess, by requester: Requester, now: Int64,
    documents: (DocumentKey) -> Document
  ) -> Bool { requester.isLocal }

  public func blanketVerdict(for requester: Requester) -> Bool? { requester.isLocal }
}

extension AllowAll: DocumentAuthorizer {
  public func allows(
    _ access: DocumentAccess, by requester: Requester, now: Int64,
    documents: (DocumentKey) -> Document
  ) -> Bool { true }

  public func blanketVerdict(for requester: Requester) -> Bool? { true }
}

extension AllowAdministrators: DocumentAuthorizer {
  public func allows(
    _ access: DocumentAccess, by requester: Requester, now: Int64,
    documents: (DocumentKey) -> Document
  ) -> Bool { requester.identity == .administrator }

  public func blanketVerdict(for requester: Requester) -> Bool? {
    requester.identity == .administrator
  }
}
