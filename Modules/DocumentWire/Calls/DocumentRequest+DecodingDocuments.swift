import TernCore
import TernQuery

/// Requests about documents by name.
extension WireRequest {
  /// Reads a `GetDocumentRequest`.
  static func getDocument(_ reader: inout ProtoReader, _ names: inout DocumentNames)
    throws(DocumentWireError) -> Body
  {
    var key: DocumentKey?
    var mask: [DocumentFieldPath]?
    var point = DocumentReadPoint.now
    while let field = try reader.next() {
      switch field {
      case 1: key = try names.key(reader.bytes, try reader.text())
      case 2: mask = try reader.shownMask()
      case 3: point = .transaction(try reader.data())
      case 5: point = .time(try reader.version())
      default: try reader.skip()
      }
    }
    guard let key else { throw .document(.invalidResourceName("")) }
    return .get(key, mask: mask, point)
  }

  /// Reads a `BatchGetDocumentsRequest`.
  static func batchGet(_ reader: inout ProtoReader, _ names: inout DocumentNames)
    throws(DocumentWireError) -> Body
  {
    var keys: [DocumentKey] = []
    var mask: [DocumentFieldPath]?
    var point = DocumentReadPoint.now
    while let field = try reader.next() {
      switch field {
      case 1: try names.readDatabase(try reader.string())
      case 2: keys.append(try names.key(reader.bytes, try reader.text()))
      case 3: mask = try reader.shownMask()
      case 4: point = .transaction(try reader.data())
      case 5: point = .begin(try transactionOptions(&reader, otherwise: .readOnly(nil)))
      case 7: point = .time(try reader.version())
      default: try reader.skip()
      }
    }
    return .batchGet(keys, mask: mask, point)
  }

  /// Reads a `ListDocumentsRequest`.
  static func listDocuments(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> Body {
    var listing = DocumentListing(parent: nil, collectionID: nil)
    while let field = try reader.next() {
      switch field {
      case 1: listing.parent = try names.parent(try reader.string())
      case 2:
        let id = try reader.string()
        listing.collectionID = id.isEmpty ? nil : id
      case 3: listing.page.size = Int(try reader.int32())
      case 4: listing.page.token = try reader.string()
      case 6: listing.orders = try DocumentOrder.list(try reader.string())
      case 7: listing.mask = try reader.shownMask()
      case 8: listing.readPoint = .transaction(try reader.data())
      case 10: listing.readPoint = .time(try reader.version())
      case 12: listing.showsMissing = try reader.bool()
      default: try reader.skip()
      }
    }
    if listing.page.size < 0 { throw .member("Page size must be nonnegative.") }
    if listing.showsMissing, !listing.orders.isEmpty {
      throw .member("show_missing cannot be used together with order_by.")
    }
    return .list(listing)
  }

  /// Reads a `CreateDocumentRequest`. Without an id the server chooses one.
  static func createDocument(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> Body {
    var (collectionID, id) = ("", "")
    var parent: DocumentKey?
    var fields = DocumentFields.empty
    var mask: [DocumentFieldPath]?
    while let field = try reader.next() {
      switch field {
      case 1: parent = try names.parent(try reader.string())
      case 2: collectionID = try reader.string()
      case 3: id = try reader.string()
      case 4:
        var message = try reader.message()
        fields = try message.document(&names).fields
      case 5: mask = try reader.shownMask()
      default: try reader.skip()
      }
    }
    try ServiceCollectionID.check(collectionID)
    do throws(DocumentError) {
      let path =
        if let parent { try parent.collection(collectionID) } else {
          try CollectionPath(collectionID)
        }
      return .create(path, id: id.isEmpty ? nil : id, fields, mask: mask)
    } catch {
      throw .document(error)
    }
  }

  /// Reads an `UpdateDocumentRequest`. Without a mask the document is replaced.
  static func updateDocument(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> Body {
    var document: WireDocument?
    var (updated, mask): ([DocumentFieldPath]?, [DocumentFieldPath]?) = (nil, nil)
    var precondition = DocumentPrecondition.none
    while let field = try reader.next() {
      switch field {
      case 1:
        var message = try reader.message()
        document = try message.document(&names)
      case 2: updated = try reader.mask()
      case 3: mask = try reader.shownMask()
      case 4: precondition = try WireWrite.precondition(&reader)
      default: try reader.skip()
      }
    }
    guard let document else { throw .member("the request has no document") }
    let change: DocumentMutation.Change =
      updated.map { .patch(document.fields, mask: DocumentFieldMask($0)) } ?? .set(document.fields)
    return .update(
      DocumentMutation(try document.named().key, change, precondition: precondition), mask: mask)
  }

  /// Reads a `DeleteDocumentRequest`.
  static func deleteDocument(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> Body {
    var key: DocumentKey?
    var precondition = DocumentPrecondition.none
    while let field = try reader.next() {
      switch field {
      case 1: key = try names.key(reader.bytes, try reader.text())
      case 2: precondition = try WireWrite.precondition(&reader)
      default: try reader.skip()
      }
    }
    guard let key else { throw .document(.invalidResourceName("")) }
    return .delete(DocumentMutation(key, .delete, precondition: precondition))
  }

  /// Reads a `ListCollectionIdsRequest`.
  static func listCollections(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> Body {
    var parent: DocumentKey?
    var page = DocumentPageRequest()
    var point = DocumentReadPoint.now
    while let field = try reader.next() {
      switch field {
      case 1: parent = try names.parent(try reader.string())
      case 2: page.size = Int(try reader.int32())
      case 3: page.token = try reader.string()
      case 4: point = .time(try reader.version())
      default: try reader.skip()
      }
    }
    if page.size < 0 { throw .member("Page size must be nonnegative.") }
    return .listCollections(below: parent, page, point)
  }

  /// Reads a `BatchWriteRequest`, whose writes are about different documents.
  static func batchWrite(_ reader: inout ProtoReader, _ names: inout DocumentNames)
    throws(DocumentWireError) -> Body
  {
    var writes: [DocumentMutation] = []
    while let field = try reader.next() {
      switch field {
      case 1: try names.readDatabase(try reader.string())
      case 2:
        var message = try reader.message()
        writes.append(try WireWrite.mutation(&message, &names))
      default: try reader.skip()
      }
    }
    if Set(writes.map(\.key)).count < writes.count {
      throw .member(
        "the same document cannot be written more than once in a single request")
    }
    return .batchWrite(writes)
  }
}

extension DocumentOrder {
  /// Reads the text form of an order: `a.b desc, __name__`. Names in backquotes hold any character.
  static func list(_ text: String) throws(DocumentWireError) -> [DocumentOrder] {
    var orders: [DocumentOrder] = []
    // Orders are compared with each other: no more are read than a query may have.
    let parts = Self.parts(of: text, between: UInt8(ascii: ","))
    if parts.count > DocumentQueryLimits.clauses {
      throw .member(
        "The query has more than \(DocumentQueryLimits.clauses) filters and sort orders.")
    }
    for part in parts {
      let words = Self.parts(of: part, between: UInt8(ascii: " "))
      let direction = words.count == 2 ? words[1].lowercased() : "asc"
      guard 1...2 ~= words.count, direction == "asc" || direction == "desc" else {
        throw .member("Invalid order by clause \"\(text)\".")
      }
      do throws(DocumentError) {
        let path = try DocumentFieldPath(service: words[0])
        orders.append(DocumentOrder(path, isDescending: direction == "desc"))
      } catch {
        throw .document(error)
      }
    }
    return orders
  }

  /// Splits a text at a byte, but not in backquotes; empty parts are left out, and no more than one
  /// part beyond the clauses of a query is split off.
  private static func parts(of text: String, between separator: UInt8) -> [String] {
    var parts: [[UInt8]] = [[]]
    var (isQuoted, isEscaped) = (false, false)
    for byte in text.utf8 {
      if byte == separator, !isQuoted {
        if !parts[parts.count - 1].isEmpty {
          if parts.count > DocumentQueryLimits.clauses { break }
          parts.append([])
        }
        continue
      }
      if byte == UInt8(ascii: "`"), !isEscaped { isQuoted.toggle() }
      isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\")
      parts[parts.count - 1].append(byte)
    }
    return parts.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
  }

  /// Orders in their text form.
  static func text(_ orders: [DocumentOrder]) -> String {
    orders.map { $0.path.text + ($0.isDescending ? " desc" : "") }.joined(separator: ", ")
  }
}
