import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernLedger
import TernQuery
import TernSecurity
import TernStorage

/// Lists that come page by page. Source: documents reference, sections 6.1 and 6.6.
struct DocumentLists {
  let reads: DocumentReads

  private var judge: DocumentJudge { reads.judge }

  func list(
    _ listing: DocumentListing, _ call: DocumentCall, _ database: OpenDatabase,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    guard let id = listing.collectionID else {
      return try listAll(listing, call, database, batch)
    }
    let path: CollectionPath
    do throws(DocumentError) {
      if let parent = listing.parent {
        path = try parent.collection(id)
      } else {
        path = try CollectionPath(id)
      }
    } catch {
      return .failure(DocumentWireError.document(error).status)
    }
    let place: DocumentReadPlace
    let query = Self.query(listing, path)
    switch try reads.place(for: query, listing.readPoint, call, database, batch) {
    case .failure(let status): return .failure(status)
    case .success(let found): place = found
    }
    if place.time != nil, listing.showsMissing {
      let text = "Which documents are missing is told as of now."
      return .failure(DocumentStatus(.unimplemented, text))
    }
    guard let token = PageToken.bytes(listing.page.token) else {
      return .failure(PageToken.unknown)
    }
    return try database.authority.listings.list(
      path, orderedBy: listing.orders, showMissing: listing.showsMissing,
      pageSize: listing.page.size, token: token, at: place.time, in: batch.reader
    ).map { page in
      let documents = page.elements.map { $0.masked(by: listing.mask) }
      return [.documents(documents, nextPageToken: PageToken.text(page.nextToken))]
    }
  }

  /// The query that a list is judged as: with its order, and its page as the limit.
  private static func query(_ listing: DocumentListing, _ path: CollectionPath) -> DocumentQuery {
    var query = DocumentQuery.collection(path)
    for order in listing.orders {
      query = (try? query.ordered(by: order.path, isDescending: order.isDescending)) ?? query
    }
    return (try? query.first(DocumentListings.pageSize(listing.page.size))) ?? query
  }

  /// A page of the documents of all collections directly below a document.
  private func listAll(
    _ listing: DocumentListing, _ call: DocumentCall, _ database: OpenDatabase,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    if listing.showsMissing || !listing.orders.isEmpty {
      let text = "Only the documents of one collection are listed in an order, or missing."
      return .failure(DocumentStatus(.invalidArgument, text))
    }
    let source = DocumentQuery.Source.all(below: listing.parent, isRecursive: false)
    let place: DocumentReadPlace
    switch try reads.place(
      for: .assembled(source), listing.readPoint, call, database, batch)
    {
    case .failure(let status): return .failure(status)
    case .success(let found): place = found
    }
    guard let token = PageToken.bytes(listing.page.token) else {
      return .failure(PageToken.unknown)
    }
    return try database.authority.listings.list(
      allBelow: listing.parent, pageSize: listing.page.size, token: token, at: place.time,
      in: batch.reader
    ).map { page in
      let documents = page.elements.map { $0.masked(by: listing.mask) }
      return [.documents(documents, nextPageToken: PageToken.text(page.nextToken))]
    }
  }

  func listCollections(
    _ parent: DocumentKey?, _ page: DocumentPageRequest, _ point: DocumentReadPoint,
    _ call: DocumentCall, _ database: OpenDatabase, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    let denial = try judge.denial(of: [.listCollections(below: parent)], call, database, batch)
    if let denial { return .failure(denial) }
    let place: DocumentReadPlace
    switch reads.place(of: point, call, database, batch) {
    case .failure(let status): return .failure(status)
    case .success(let found): place = found
    }
    guard let token = PageToken.bytes(page.token) else { return .failure(PageToken.unknown) }
    return try database.authority.listings.collectionIDs(
      below: parent, pageSize: page.size, token: token, at: place.time, in: batch.reader
    ).map { found in
      [.collectionIDs(found.elements, nextPageToken: PageToken.text(found.nextToken))]
    }
  }

  /// The most cursors of one answer.
  private static var partitionLimit: Int { 1_000 }

  func partition(
    _ asked: DocumentPartitioning, _ call: DocumentCall, _ database: OpenDatabase,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    let denial = try judge.denial(of: [.privileged(.partition)], call, database, batch)
    if let denial { return .failure(denial) }
    let place: DocumentReadPlace
    switch try reads.place(for: asked.query, asked.readPoint, call, database, batch) {
    case .failure(let status): return .failure(status)
    case .success(let found): place = found
    }
    guard let start = Int(asked.page.token.isEmpty ? "0" : asked.page.token), start >= 0 else {
      return .failure(PageToken.unknown)
    }
    return try database.authority.listings.partition(
      asked.query, into: min(asked.count, Self.partitionLimit), at: place.time,
      in: batch.reader
    ).map { cursors in
      let size = asked.page.size > 0 ? asked.page.size : cursors.count
      let page = cursors.dropFirst(start).prefix(size)
      let parts = page.map { WireCursor($0.values, isBefore: $0.isInclusive) }
      let token = page.endIndex < cursors.count ? String(page.endIndex) : ""
      return [.partitions(parts, nextPageToken: token)]
    }
  }
}

/// The position at which a list continues, as text: hexadecimal digits.
private enum PageToken {
  static let unknown = DocumentStatus(.invalidArgument, "The page token is invalid.")

  static func text(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
      let digits = String(byte, radix: 16)
      return digits.utf8.count == 1 ? "0" + digits : digits
    }.joined()
  }

  /// - Returns: `nil` when the text is no token.
  static func bytes(_ text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      let pair = String(decoding: digits[index...index + 1], as: UTF8.self)
      guard let byte = UInt8(pair, radix: 16), pair.first != "+" else { return nil }
      bytes.append(byte)
    }
    return bytes
  }
}
