public import TernCore
public import TernQuery

/// Something that somebody wants to do with documents.
public enum DocumentAccess: Hashable, Sendable {
  /// To read one document, as it is or is not.
  case get(Document)
  /// To read or watch what a query selects.
  case list(DocumentQuery)
  /// To see the ids of the collections below a document, or at the root.
  case listCollections(below: DocumentKey?)
  /// To leave a document as it is afterwards, made, changed or deleted.
  case write(before: Document, after: Document)
}

/// Decides who may read and write which documents. Must not block.
public protocol DocumentAuthorizer: Sendable {
  /// Whether something may be done.
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
}

extension DocumentAuthorizer {
  public func blanketVerdict(for requester: Requester) -> Bool? { nil }
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
