package import TernCore
package import TernQuery
package import TernStorage

/// A part of a list, and from where to go on.
///
/// Pages are cut by number and by bytes, so one may hold fewer elements than were asked for and yet
/// have a successor. Only an empty token ends a list.
package struct DocumentPage<Element: Sendable>: Sendable {
  /// The elements of the page, in order.
  package let elements: [Element]
  /// The token of the next page; empty when this is the last.
  ///
  /// Opaque to clients. It names the last element, so the list goes on behind it whatever has
  /// changed.
  package let nextToken: [UInt8]
}

extension DocumentAuthority {
  /// The lists of documents and collections, in pages and parts.
  package var listings: DocumentListings { DocumentListings(authority: self) }
}

/// The lists of documents and collections of a database, in pages and parts.
///
/// Every function answers from the one state that its reader shows. Two pages of a list may be of
/// different states.
package struct DocumentListings: Sendable {
  fileprivate let authority: DocumentAuthority

  private var rows: DocumentRows { authority.rows }

  /// The most documents or ids of one page.
  package static let pageLimit = 300

  /// A page of documents ends with the one that makes it larger than this: 8 MiB.
  package static let pageBytes = 8 << 20

  /// Returns the size of a page; 0 and less leave it to the server.
  package static func pageSize(_ wanted: Int) -> Int {
    wanted <= 0 ? pageLimit : min(wanted, pageLimit)
  }

  /// Also for a token of another list, where that can be told.
  private static let badToken = DocumentStatus(.invalidArgument, "The page token is invalid.")

  /// The documents of a collection, page by page.
  ///
  /// - Parameters:
  ///   - orders: Other than by key; not together with `showMissing`.
  ///   - showMissing: Whether documents that do not exist are listed when there are some below.
  ///   - pageSize: At most ``pageLimit``; 0 leaves it to the server.
  ///   - token: That of the page before; empty for the first.
  ///   - time: An earlier version to read at, but not for missing documents; `nil` for now.
  /// - Returns: A failure with INVALID_ARGUMENT for a token that is none and for an order that
  ///   cannot be had, and that of ``DocumentAuthority/run(_:at:in:_:)``.
  /// - Complexity: Follows the page, not the collection, when an index serves the order.
  package func list(
    _ collection: CollectionPath, orderedBy orders: [DocumentOrder] = [],
    showMissing: Bool = false, pageSize: Int = 0, token: [UInt8] = [],
    at time: DocumentVersion? = nil, in reader: any StoreReader
  ) throws(StorageError) -> Result<DocumentPage<Document>, DocumentStatus> {
    let size = Self.pageSize(pageSize)
    var cursor: DocumentMap?
    if !token.isEmpty {
      // The token comes from a client, so its bytes are validated like those of a document.
      guard let fields = DocumentFields(validating: token) else {
        return .failure(Self.badToken)
      }
      cursor = fields.map
    }
    if showMissing {
      if !orders.isEmpty {
        return .failure(DocumentStatus(.invalidArgument, "Missing documents have no order."))
      }
      var after: DocumentKey?
      if let cursor {
        guard case .reference(let name) = cursor["key"], collection.contains(name.key) else {
          return .failure(Self.badToken)
        }
        after = name.key
      }
      var lister = GapScan(collection, DocumentReading(rows, reader), after: after)
      let limitBytes = Self.pageBytes
      // One more than the page has tells that another page follows.
      let documents = try lister.next(size + 1, limitBytes: limitBytes)
      let byteCount = documents.reduce(0) { $0 + ($1.fields?.bytes.count ?? 0) }
      return .success(page(documents, size, isCut: byteCount > limitBytes, orders: []))
    }
    let query: DocumentQuery
    do throws(DocumentQueryError) {
      query = try listing(collection, orders, after: cursor, size + 1)
    } catch {
      return .failure(DocumentStatus(.invalidArgument, "\(error)"))
    }
    var documents: [Document] = []
    var byteCount = 0
    let outcome = try authority.run(query, at: time, in: reader) { document throws(StorageError) in
      documents.append(document)
      byteCount += document.fields?.bytes.count ?? 0
      return byteCount <= Self.pageBytes
    }
    let isCut = byteCount > Self.pageBytes
    return outcome.map { _ in page(documents, size, isCut: isCut, orders: orders) }
  }

  /// The documents of all collections directly below a document, or at the top, page by page.
  package func list(
    allBelow parent: DocumentKey?, pageSize: Int, token: [UInt8], at time: DocumentVersion?,
    in reader: any StoreReader
  ) throws(StorageError) -> Result<DocumentPage<Document>, DocumentStatus> {
    var start: DocumentCursor?
    if !token.isEmpty {
      guard case .reference(let name)? = DocumentFields(validating: token)?.map["key"] else {
        return .failure(Self.badToken)
      }
      start = DocumentCursor([.reference(name)], isInclusive: false)
    }
    let size = Self.pageSize(pageSize)
    let query = DocumentQuery.assembled(
      .all(below: parent, isRecursive: false), orders: [DocumentOrder(.key)], start: start,
      limit: (.first, size + 1))
    var documents: [Document] = []
    var byteCount = 0
    let outcome = try authority.run(query, at: time, in: reader) { document throws(StorageError) in
      documents.append(document)
      byteCount += document.fields?.bytes.count ?? 0
      return byteCount <= Self.pageBytes
    }
    let isCut = byteCount > Self.pageBytes
    return outcome.map { _ in page(documents, size, isCut: isCut, orders: []) }
  }

  /// Makes the query of a page.
  ///
  /// - Parameters:
  ///   - cursor: The values of the token: the key under `key`, and each order's value under its
  ///     position.
  ///   - count: The most documents.
  /// - Throws: `DocumentQueryError` for orders that conflict and for a token of another order.
  private func listing(
    _ collection: CollectionPath, _ orders: [DocumentOrder], after cursor: DocumentMap?,
    _ count: Int
  ) throws(DocumentQueryError) -> DocumentQuery {
    var query = DocumentQuery.collection(collection)
    for order in orders {
      query = try query.ordered(by: order.path, isDescending: order.isDescending)
    }
    let all = query.normalizedOrders
    if query.orders.last?.path.isKey != true, let key = all.last {
      query = try query.ordered(by: .key, isDescending: key.isDescending)
    }
    if let cursor {
      // The values of a token are named by their place, and the key by its own.
      let values = all.enumerated().compactMap { index, order in
        cursor[order.path.isKey ? "key" : "\(index)"]
      }
      guard values.count == all.count else { throw .cursorCount(values.count, orders: all.count) }
      query = try query.starting(after: values)
    }
    return try query.first(count)
  }

  /// Makes a page out of the documents that were found.
  ///
  /// - Parameters:
  ///   - size: The most elements; `documents` may have one more.
  ///   - isCut: True when the limit of bytes has ended the search.
  private func page(
    _ documents: [Document], _ size: Int, isCut: Bool, orders: [DocumentOrder]
  ) -> DocumentPage<Document> {
    let elements = Array(documents.prefix(size))
    guard isCut || documents.count > size, let last = elements.last else {
      return DocumentPage(elements: elements, nextToken: [])
    }
    var cursor = DocumentMap()
    cursor["key"] = .reference(DocumentName(last.key, in: rows.database))
    for (index, order) in orders.enumerated() where !order.path.isKey {
      cursor["\(index)"] = last.fields?[order.path]
    }
    return DocumentPage(elements: elements, nextToken: DocumentFields(cursor).bytes)
  }

  /// The ids of the collections directly below a document, or at the top, ascending.
  ///
  /// A collection counts as long as a document is in it, or in another below it.
  ///
  /// - Parameter time: An earlier version to read at; `nil` for now.
  /// - Returns: The token is the last id. A failure for a time that is not known any more.
  /// - Complexity: O(collections below the parent), until the page is full.
  package func collectionIDs(
    below parent: DocumentKey?, pageSize: Int = 0, token: [UInt8] = [],
    at time: DocumentVersion? = nil, in reader: any StoreReader
  ) throws(StorageError) -> Result<DocumentPage<String>, DocumentStatus> {
    let size = Self.pageSize(pageSize)
    let reading = DocumentReading(rows, reader)
    if let time, try !reading.knows(time) { return .failure(DocumentAuthority.tooOld) }
    var walk = CollectionRows(reading, below: parent?.text ?? "", at: time)
    if !token.isEmpty { walk.skip(String(decoding: token, as: UTF8.self)) }
    var ids: [String] = []
    while ids.count <= size, let id = try walk.nextName() {
      if try walk.holdsDocuments(below: id) { ids.append(id) }
      walk.skip(id)
    }
    let elements = Array(ids.prefix(size))
    if let failure = walk.failure { return .failure(failure) }
    let next = ids.count > size ? Array((elements.last ?? "").utf8) : []
    return .success(DocumentPage(elements: elements, nextToken: next))
  }

  /// The fewest documents that are worth a part of their own.
  ///
  /// A group of so many documents or fewer gets no cursor.
  package static let leastPart = 128

  /// Cursors that divide all documents of a group into parts of about one size.
  ///
  /// - Parameters:
  ///   - query: A group by ascending key, with nothing else.
  ///   - count: The most cursors; *n* of them make *n* + 1 parts.
  ///   - time: An earlier version to read at; `nil` for now.
  ///   - leastPart: The number of documents that a part is worth.
  /// - Returns: Cursors in ascending order, and fewer than `count` for a small group.
  ///   INVALID_ARGUMENT for another query than a group in the order of keys.
  /// - Complexity: Reads the whole group. Source: documents reference, section 6.6.
  package func partition(
    _ query: DocumentQuery, into count: Int, at time: DocumentVersion? = nil,
    leastPart: Int = DocumentListings.leastPart, in reader: any StoreReader
  ) throws(StorageError) -> Result<[DocumentCursor], DocumentStatus> {
    guard case .group = query.source, query.matchesAll, count > 0,
      query.vectorSearch == nil, query.orders == [DocumentOrder(.key)]
    else {
      return .failure(
        DocumentStatus(
          .invalidArgument,
          "Partition queries are collection group queries ordered by __name__ ascending."))
    }
    var sample = UniformSampler(atLeast: min(count, 10_000))
    var found = 0
    let outcome = try authority.run(query, at: time, in: reader) { document throws(StorageError) in
      sample.take(document.key)
      found += 1
      return true
    }
    let wanted = min(count, (found + leastPart - 1) / leastPart - 1)
    return outcome.map { _ in
      sample.parts(wanted).map {
        DocumentCursor([.reference(DocumentName($0, in: rows.database))], isInclusive: true)
      }
    }
  }
}

/// Keys at even distances out of a run of unknown length.
///
/// It keeps every *stride*-th key. When it is full, it drops every second one and doubles the
/// stride, so memory is bounded and the distances stay even.
private struct UniformSampler {
  /// The sample, in the order of the run.
  private var keys: [DocumentKey] = []
  /// The distance of two kept keys; a power of two.
  private var stride = 1
  /// The keys that were shown so far.
  private var seen = 0
  /// The number of keys at which the sample is thinned: at least 8 remain for each part.
  private let capacity: Int

  init(atLeast count: Int) { capacity = max((count + 1) * 16, 1_024) }

  /// Shows the next key.
  mutating func take(_ key: DocumentKey) {
    if seen % stride == 0 { keys.append(key) }
    seen += 1
    if keys.count < capacity { return }
    keys = keys.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    stride *= 2
  }

  /// At most `count` keys, none of them the first.
  ///
  /// Small samples give fewer, because a key is used once.
  func parts(_ count: Int) -> [DocumentKey] {
    var parts: [DocumentKey] = []
    if count < 1 { return [] }
    for part in 1...count {
      let index = keys.count * part / (count + 1)
      guard index > 0, index < keys.count, parts.last != keys[index] else { continue }
      parts.append(keys[index])
    }
    return parts
  }
}
