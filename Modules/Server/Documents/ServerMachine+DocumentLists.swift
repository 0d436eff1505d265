import TernCore
import TernDocumentEngine
import TernDocumentWire
import TernQuery
import TernSecurity
import TernStorage

// Lists that come page by page. Source: documents reference, sections 6.1 and 6.6.
extension ServerMachine {
  mutating func list(
    _ listing: DocumentListing, _ call: DocumentCall, _ room: DocumentRoom,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    guard let id = listing.collectionID else {
      return .failure(DocumentStatus(.unimplemented, "One collection is listed at a time."))
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
    let place: Place
    switch try self.place(for: .collection(path), listing.readPoint, call, room, batch) {
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
    return try room.authority.list(
      path, orderedBy: listing.orders, showMissing: listing.showsMissing,
      pageSize: listing.page.size, token: token, at: place.time, in: batch.reader
    ).map { page in
      let documents = page.elements.map { $0.masked(by: listing.mask) }
      return [.documents(documents, nextPageToken: PageToken.text(page.nextToken))]
    }
  }

  func listCollections(
    _ parent: DocumentKey?, _ page: DocumentPageRequest, _ point: DocumentReadPoint,
    _ call: DocumentCall, _ room: DocumentRoom, _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    guard try allows([.listCollections(below: parent)], call, room, batch) else {
      return .failure(ServerMachine.denied)
    }
    let place: Place
    switch self.place(of: point, room, batch) {
    case .failure(let status): return .failure(status)
    case .success(let found): place = found
    }
    guard let token = PageToken.bytes(page.token) else { return .failure(PageToken.unknown) }
    return try room.authority.collectionIDs(
      below: parent, pageSize: page.size, token: token, at: place.time, in: batch.reader
    ).map { found in
      [.collectionIDs(found.elements, nextPageToken: PageToken.text(found.nextToken))]
    }
  }

  /// The most cursors of one answer.
  private static var partitionLimit: Int { 1_000 }

  mutating func partition(
    _ asked: DocumentPartitioning, _ call: DocumentCall, _ room: DocumentRoom,
    _ batch: borrowing ServerBatch
  ) throws(StorageError) -> DocumentAnswer {
    let place: Place
    switch try self.place(for: asked.query, asked.readPoint, call, room, batch) {
    case .failure(let status): return .failure(status)
    case .success(let found): place = found
    }
    return try room.authority.partition(
      asked.query, into: min(asked.count, ServerMachine.partitionLimit), at: place.time,
      in: batch.reader
    ).map { cursors in
      let parts = cursors.map { WireCursor($0.values, isBefore: $0.isInclusive) }
      return [.partitions(parts, nextPageToken: "")]
    }
  }
}

/// Where a list goes on, as text: hexadecimal digits.
private enum PageToken {
  static let unknown = DocumentStatus(.invalidArgument, "The page token is none of ours.")

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
