import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernLedger
import TernQuery
import TernSecurity
import TernStorage

/// Lists that come page by page. Source: documents reference, sections 6.1 and 6.6.
///
/// Each list is a *long read*: the rules judge it when it begins, and again if they change before
/// its end. Its rows are read on the executor if they are few, else beside it. All pages of one
/// list may be read at different times unless the request names a read time.
struct DocumentLists {
  let reads: DocumentReads

  private var judge: DocumentJudge { reads.judge }

  /// Lists one page of the documents of a collection.
  ///
  /// A listing without a collection id lists all collections directly below a document. A listing
  /// that shows missing documents reads the newest state, because names without documents have no
  /// history.
  ///
  /// - Returns: `ready` with a failure for invalid names, orders, tokens and for denials; else
  ///   `reading`.
  /// - Throws: Storage errors that the rules met.
  func list(
    _ listing: DocumentListing, _ call: DocumentCall, _ database: OpenDatabase,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DocumentReply {
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
      return .ready(.failure(DocumentWireError.document(error).status))
    }
    let query: DocumentQuery
    do throws(DocumentQueryError) {
      query = try Self.query(listing, path)
    } catch {
      return .ready(.failure(DocumentWireError.query(error).status))
    }
    let place: DocumentReadPlace
    switch try reads.place(for: query, listing.readPoint, call, database, batch) {
    case .failure(let status): return .ready(.failure(status))
    case .success(let found): place = found
    }
    if place.time != nil, listing.showsMissing {
      let text = "Which documents are missing is told as of now."
      return .ready(.failure(DocumentStatus(.unimplemented, text)))
    }
    guard let token = PageToken.bytes(listing.page.token) else {
      return .ready(.failure(PageToken.unknown))
    }
    let listings = database.authority.listings
    let time = listing.showsMissing ? nil : place.readTime
    return pages(of: listing, judgedBy: query, at: place) { reader throws(StorageError) in
      try listings.list(
        path, orderedBy: listing.orders, showMissing: listing.showsMissing,
        pageSize: listing.page.size, token: token, at: time, in: reader)
    }
  }

  /// The reply of one page of documents.
  ///
  /// - Parameters:
  ///   - query: The query as which the page was allowed; it is judged again if the rules change
  ///     meanwhile.
  ///   - page: Reads the page. It runs on another thread when the page is long.
  private func pages(
    of listing: DocumentListing, judgedBy query: DocumentQuery, at place: DocumentReadPlace,
    _ page:
      @escaping @Sendable (any StoreReader) throws(StorageError) -> Result<
        DocumentPage<Document>, DocumentStatus
      >
  ) -> DocumentReply {
    let mask = listing.mask.map { DocumentFieldMask(asked: $0) }
    let read = LongRead<DocumentAnswer>(
      judgedBy: [DocumentReads.access(to: query)], at: place.readTime
    ) { reader throws(StorageError) in
      let outcome = try page(reader)
      let documents = (try? outcome.get())?.elements ?? []
      return (outcome, bytes: documents.reduce(0) { $0 + ($1.fields?.bytes.count ?? 0) })
    } finish: { outcome, _ in
      outcome.map { page in
        let documents = page.elements.map { $0.masked(by: mask) }
        return [.documents(documents, nextPageToken: PageToken.text(page.nextToken))]
      }
    }
    return .reading(read)
  }

  /// The query that a list is judged as: with its order, and its page as the limit.
  ///
  /// Rules may refer to `request.query.limit` and `orderBy`, so the page size counts as a limit.
  ///
  /// - Throws: ``DocumentQueryError`` for an order that no query could have.
  private static func query(
    _ listing: DocumentListing, _ path: CollectionPath
  ) throws(DocumentQueryError) -> DocumentQuery {
    var query = DocumentQuery.collection(path)
    for order in listing.orders {
      query = try query.ordered(by: order.path, isDescending: order.isDescending)
    }
    return try query.first(DocumentListings.pageSize(listing.page.size))
  }

  /// A page of the documents of all collections directly below a document.
  ///
  /// Rules judge it as a query without a collection, which no rule can allow: it takes blanket
  /// permission.
  private func listAll(
    _ listing: DocumentListing, _ call: DocumentCall, _ database: OpenDatabase,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DocumentReply {
    if listing.showsMissing || !listing.orders.isEmpty {
      let text = "Only the documents of one collection are listed in an order, or missing."
      return .ready(.failure(DocumentStatus(.invalidArgument, text)))
    }
    let query = DocumentQuery.assembled(.all(below: listing.parent, isRecursive: false))
    let place: DocumentReadPlace
    switch try reads.place(for: query, listing.readPoint, call, database, batch) {
    case .failure(let status): return .ready(.failure(status))
    case .success(let found): place = found
    }
    guard let token = PageToken.bytes(listing.page.token) else {
      return .ready(.failure(PageToken.unknown))
    }
    let listings = database.authority.listings
    return pages(of: listing, judgedBy: query, at: place) { reader throws(StorageError) in
      try listings.list(
        allBelow: listing.parent, pageSize: listing.page.size, token: token, at: place.readTime,
        in: reader)
    }
  }

  /// Lists one page of the names of the collections below a document, or of the database for `nil`.
  ///
  /// - Parameters:
  ///   - page: The size and the token of the page. The token is the position behind the previous
  ///     page.
  ///   - point: The time to read at.
  func listCollections(
    _ parent: DocumentKey?, _ page: DocumentPageRequest, _ point: DocumentReadPoint,
    _ call: DocumentCall, _ database: OpenDatabase, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DocumentReply {
    let accesses = [DocumentAccess.listCollections(below: parent)]
    if let denial = try judge.denial(of: accesses, call, database, batch) {
      return .ready(.failure(denial))
    }
    let place: DocumentReadPlace
    switch reads.place(of: point, call, database, batch) {
    case .failure(let status): return .ready(.failure(status))
    case .success(let found): place = found
    }
    guard let token = PageToken.bytes(page.token) else {
      return .ready(.failure(PageToken.unknown))
    }
    let (listings, time) = (database.authority.listings, place.time)
    let read = LongRead<DocumentAnswer>(
      judgedBy: accesses, at: place.time
    ) { reader throws(StorageError) in
      let outcome = try listings.collectionIDs(
        below: parent, pageSize: page.size, token: token, at: time, in: reader)
      return (outcome, bytes: 0)
    } finish: { (outcome: Result<DocumentPage<String>, DocumentStatus>, _) in
      outcome.map { found in
        [.collectionIDs(found.elements, nextPageToken: PageToken.text(found.nextToken))]
      }
    }
    return .reading(read)
  }

  /// The most cursors of one answer.
  ///
  /// Finding cursors reads the whole collection group, however many there are; the limit bounds
  /// what the server keeps of it.
  private static var partitionLimit: Int { 1_000 }

  /// Returns cursors that cut a query's result into parts of similar size.
  ///
  /// All cursors are computed for each page, since the pages of one answer must fit together; the
  /// token is the number of cursors that earlier pages have returned.
  func partition(
    _ asked: DocumentPartitioning, _ call: DocumentCall, _ database: OpenDatabase,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DocumentReply {
    let accesses = [DocumentAccess.privileged(.partition)]
    if let denial = try judge.denial(of: accesses, call, database, batch) {
      return .ready(.failure(denial))
    }
    let place: DocumentReadPlace
    switch try reads.place(for: asked.query, asked.readPoint, call, database, batch) {
    case .failure(let status): return .ready(.failure(status))
    case .success(let found): place = found
    }
    guard let start = Int(asked.page.token.isEmpty ? "0" : asked.page.token), start >= 0 else {
      return .ready(.failure(PageToken.unknown))
    }
    let (listings, query) = (database.authority.listings, asked.query)
    let (count, time) = (min(asked.count, Self.partitionLimit), place.readTime)
    let read = LongRead<DocumentAnswer>(
      judgedBy: accesses + [DocumentReads.access(to: query)], at: time
    ) { reader throws(StorageError) in
      (try listings.partition(query, into: count, at: time, in: reader), bytes: 0)
    } finish: { outcome, _ in
      outcome.map { cursors in
        let size = asked.page.size > 0 ? asked.page.size : cursors.count
        let page = cursors.dropFirst(start).prefix(size)
        let parts = page.map { WireCursor($0.values, isBefore: $0.isInclusive) }
        let token = page.endIndex < cursors.count ? String(page.endIndex) : ""
        return [.partitions(parts, nextPageToken: token)]
      }
    }
    return .reading(read)
  }
}

/// The position at which a list continues, as text: hexadecimal digits.
///
/// Clients treat it as opaque. It is not signed: a forged one reads only what the rules allow.
private enum PageToken {
  static let unknown = DocumentStatus(.invalidArgument, "The page token is invalid.")

  static func text(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
      let digits = String(byte, radix: 16)
      return digits.utf8.count == 1 ? "0" + digits : digits
    }.joined()
  }

  /// Reads a token.
  ///
  /// An empty text is the token of the first page, and gives no bytes.
  ///
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
