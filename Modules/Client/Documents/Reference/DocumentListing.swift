import TernCore
import TernDocumentWire

/// Part of a list that the server keeps.
public struct DocumentListPage<Element: Sendable>: Sendable {
  /// The elements, in the order of the list.
  public let elements: [Element]
  /// The token at which the list continues; `nil` behind its end.
  public let next: String?
}

/// The limits of one page of a list.
public enum DocumentListLimits {
  /// The elements of a page, unless something else is asked for.
  public static let pageSize = 300
}

// Lists come from the server, and are not kept here.

extension DocumentCollection {
  /// Part of the documents, by their ids.
  ///
  /// Every page is the collection as it is when the page is read.
  ///
  /// - Parameters:
  ///   - token: What the page before said comes next; `nil` for the first one.
  ///   - limit: The most documents.
  ///   - includingMissing: Whether documents are listed that do not exist while something lies
  ///     below them.
  /// - Throws: ``DocumentsError/refused(_:)``, with `unavailable` when there is no server.
  public func page(
    from token: String? = nil, limit: Int = DocumentListLimits.pageSize,
    includingMissing: Bool = false
  ) async throws(DocumentsError) -> DocumentListPage<SingleDocumentSnapshot> {
    let path: CollectionPath
    do throws(DocumentError) { path = try self.path.get() } catch { throw .invalid(error) }
    let listing = DocumentListing(
      parent: path.parent, collectionID: path.id,
      page: DocumentPageRequest(size: limit, token: token ?? ""), showsMissing: includingMissing)
    for case .documents(let found, let next) in try await documents.answers(to: .list(listing)) {
      let metadata = DocumentSnapshotMetadata(hasPendingWrites: false, isFromCache: false)
      return DocumentListPage(
        elements: found.map { document in
          let place = DocumentLocation(documents: documents, key: .success(document.key))
          return SingleDocumentSnapshot(place, document, metadata)
        }, next: next.isEmpty ? nil : next)
    }
    throw .refused(DocumentStatus(.internalError, "the server did not answer the list"))
  }
}

extension DocumentLocation {
  /// Part of the ids of the collections below the document, whether it exists or not.
  ///
  /// - Parameters: As those of ``Documents/collectionIDs(from:limit:)``.
  public func collectionIDs(
    from token: String? = nil, limit: Int = DocumentListLimits.pageSize
  ) async throws(DocumentsError) -> DocumentListPage<String> {
    let parent: DocumentKey
    do throws(DocumentError) { parent = try key.get() } catch { throw .invalid(error) }
    return try await documents.collectionIDs(below: parent, from: token, limit: limit)
  }
}

extension Documents {
  /// Part of the ids of the collections at the top of the database.
  ///
  /// - Parameters:
  ///   - token: What the page before said comes next; `nil` for the first one.
  ///   - limit: The most ids.
  /// - Throws: ``DocumentsError/refused(_:)``, with `unavailable` when there is no server.
  public func collectionIDs(
    from token: String? = nil, limit: Int = DocumentListLimits.pageSize
  ) async throws(DocumentsError) -> DocumentListPage<String> {
    try await collectionIDs(below: nil, from: token, limit: limit)
  }

  func collectionIDs(
    below parent: DocumentKey?, from token: String?, limit: Int
  ) async throws(DocumentsError) -> DocumentListPage<String> {
    let page = DocumentPageRequest(size: limit, token: token ?? "")
    let request = DocumentRequest.Body.listCollections(below: parent, page, .now)
    for case .collectionIDs(let ids, let next) in try await answers(to: request) {
      return DocumentListPage(elements: ids, next: next.isEmpty ? nil : next)
    }
    throw .refused(DocumentStatus(.internalError, "the server did not answer the list"))
  }

  fileprivate func answers(
    to request: DocumentRequest.Body
  ) async throws(DocumentsError) -> [DocumentResponse] {
    switch await session.call(request) {
    case .success(let answers): return answers
    case .failure(let status): throw await failure(status)
    }
  }
}
