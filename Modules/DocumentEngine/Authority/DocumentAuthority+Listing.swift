package import TernCore
package import TernQuery
package import TernStorage

/// A part of a list, and from where to go on.
package struct DocumentPage<Element: Sendable>: Sendable {
  /// What the page holds, in order.
  package let elements: [Element]
  /// What to ask for the next page with; empty when this is the last.
  package let nextToken: [UInt8]
}

extension DocumentAuthority {
  /// The most documents or ids of one page.
  package static let pageLimit = 300

  /// A page of documents ends with the one that makes it larger than this: 8 MiB.
  package static let pageBytes = 8 << 20

  private static func pageSize(_ wanted: Int) -> Int {
    wanted <= 0 ? pageLimit : min(wanted, pageLimit)
  }

  private static let badToken = DocumentStatus(.invalidArgument, "The page token is none of ours.")

  /// The documents of a collection, page by page.
  ///
  /// - Parameters:
  ///   - orders: Other than by key; not together with `showMissing`.
  ///   - showMissing: Whether documents that do not exist are listed when there are some below.
  ///   - pageSize: At most ``pageLimit``; 0 leaves it to the server.
  ///   - token: That of the page before; empty for the first.
  ///   - time: An earlier version to read at, but not for missing documents; `nil` for now.
  package func list(
    _ collection: CollectionPath, orderedBy orders: [DocumentOrder] = [],
    showMissing: Bool = false, pageSize: Int = 0, token: [UInt8] = [],
    at time: DocumentVersion? = nil, in reader: any StoreReader
  ) throws(StorageError) -> Result<DocumentPage<Document>, DocumentStatus> {
    let size = DocumentAuthority.pageSize(pageSize)
    var cursor: DocumentMap?
    if !token.isEmpty {
      guard let fields = DocumentFields(validating: token) else {
        return .failure(DocumentAuthority.badToken)
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
          return .failure(DocumentAuthority.badToken)
        }
        after = name.key
      }
      var lister = MissingLister(collection, DocumentReading(rows, reader), after: after)
      let limitBytes = DocumentAuthority.pageBytes
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
    let outcome = try run(query, at: time, in: reader) { document throws(StorageError) in
      documents.append(document)
      byteCount += document.fields?.bytes.count ?? 0
      return byteCount <= DocumentAuthority.pageBytes
    }
    let isCut = byteCount > DocumentAuthority.pageBytes
    return outcome.map { _ in page(documents, size, isCut: isCut, orders: orders) }
  }

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
  package func collectionIDs(
    below parent: DocumentKey?, pageSize: Int = 0, token: [UInt8] = [],
    at time: DocumentVersion? = nil, in reader: any StoreReader
  ) throws(StorageError) -> Result<DocumentPage<String>, DocumentStatus> {
    let size = DocumentAuthority.pageSize(pageSize)
    let reading = DocumentReading(rows, reader)
    let base = parent.map { $0.text + "/" } ?? ""
    if let time, try !reading.knows(time) { return .failure(DocumentAuthority.tooOld) }
    var walk = CollectionRows(reading, below: parent?.text ?? "", at: time)
    if !token.isEmpty { walk.skip(base + String(decoding: token, as: UTF8.self)) }
    var ids: [String] = []
    while ids.count <= size, let id = try walk.nextName(after: base) {
      if try walk.holdsDocuments(below: base + id) { ids.append(id) }
      walk.skip(base + id)
    }
    let elements = Array(ids.prefix(size))
    if walk.hasTooMuchToUndo { return .failure(DocumentAuthority.tooOld) }
    let next = ids.count > size ? Array((elements.last ?? "").utf8) : []
    return .success(DocumentPage(elements: elements, nextToken: next))
  }

  /// Cursors that divide all documents of a group into parts of about one size.
  ///
  /// - Parameters:
  ///   - query: A group by ascending key, with nothing else.
  ///   - count: The most cursors; *n* of them make *n* + 1 parts.
  ///   - time: An earlier version to read at; `nil` for now.
  /// - Complexity: Reads the whole group. Source: documents reference, section 6.6.
  package func partition(
    _ query: DocumentQuery, into count: Int, at time: DocumentVersion? = nil,
    in reader: any StoreReader
  ) throws(StorageError) -> Result<[DocumentCursor], DocumentStatus> {
    guard case .group = query.source, query.matchesAll, count > 0,
      query.orders == [DocumentOrder(.key)]
    else {
      return .failure(
        DocumentStatus(.invalidArgument, "Only a group in ascending order of names is divided."))
    }
    var sample = EvenSample(atLeast: min(count, 10_000))
    let outcome = try run(query, at: time, in: reader) { document throws(StorageError) in
      sample.take(document.key)
      return true
    }
    return outcome.map { _ in
      sample.parts(count).map {
        DocumentCursor([.reference(DocumentName($0, in: rows.database))], isInclusive: true)
      }
    }
  }
}

/// Keys at even distances out of a run of unknown length.
private struct EvenSample {
  private var keys: [DocumentKey] = []
  private var stride = 1
  private var seen = 0
  private let capacity: Int

  init(atLeast count: Int) { capacity = (count + 1) * 16 }

  mutating func take(_ key: DocumentKey) {
    if seen % stride == 0 { keys.append(key) }
    seen += 1
    if keys.count < capacity { return }
    keys = keys.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    stride *= 2
  }

  /// At most `count` keys, none of them the first.
  func parts(_ count: Int) -> [DocumentKey] {
    var parts: [DocumentKey] = []
    for part in 1...count {
      let index = keys.count * part / (count + 1)
      guard index > 0, index < keys.count, parts.last != keys[index] else { continue }
      parts.append(keys[index])
    }
    return parts
  }
}
