import TernCore
import TernQuery

/// Requests about documents by name.
///
/// The field `database` is missing here: the first name that is read settles it.
extension WireRequest {
  /// Reads a `GetDocumentRequest`.
  ///
  /// Fields: 1 name, 2 mask, 3 transaction, 5 read time. An empty mask shows no field; an absent
  /// one shows all.
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
  ///
  /// Fields: 1 database, 2 names, 3 mask, 4 transaction, 5 new transaction, 7 read time. Names may
  /// repeat and be none at all. A new transaction without a mode is read-only, unlike everywhere
  /// else.
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
  ///
  /// Fields: 1 parent, 2 collection id, 3 page size, 4 page token, 6 order, 7 mask, 8 transaction,
  /// 10 read time, 12 show missing. Without a collection id the list holds the documents of all
  /// collections directly below the parent.
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` for a negative page size, for an order that cannot
  ///   be read, and for missing documents in an order of fields, which they lack.
  static func listDocuments(
    _ reader: inout ProtoReader, _ names: inout DocumentNames
  ) throws(DocumentWireError) -> Body {
    var listing = DocumentListing(parent: nil, collectionID: nil)
    while let field = try reader.next() {
      switch field {
      case 1: listing.parent = try names.parent(try reader.string())
      case 2:
        let id = try reader.string()
        try ServiceCollectionID.check(id)
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
  ///
  /// Fields: 1 parent, 2 collection id, 3 document id, 4 document, 5 mask of the answer. A name
  /// in the document is read and not used.
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
  ///
  /// Fields: 1 document, 2 mask of the write, 3 mask of the answer, 4 precondition. Fields that the
  /// mask of the write names and the document lacks are deleted.
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
  ///
  /// Fields: 1 name, 2 precondition. A missing document is no error without one.
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
  ///
  /// Fields: 1 parent, 2 page size, 3 page token, 4 read time.
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
  ///
  /// Fields: 1 database, 2 writes. Labels (3) are skipped.
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` when two writes are about one document: the writes
  ///   are independent and have no order.
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
  ///
  /// - Throws: ``DocumentWireError/member(_:)`` for another direction than `asc` and `desc` in any
  ///   case, and for more orders than a query may have; ``DocumentWireError/document(_:)`` for a
  ///   path that is none.
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
    for order in orders { try order.path.checkQueried(isCompared: true) }
    try check(orders)
    return orders
  }

  /// Splits a text at a byte, but not in backquotes; empty parts are left out, and no more than one
  /// part beyond the clauses of a query is split off.
  ///
  /// A backslash inside of backquotes makes the next byte plain, so a name may hold a backquote.
  ///
  /// - Complexity: O(*n*) in the bytes of the text.
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
  ///
  /// Our client sends it in a list request; ``list(_:)`` reads it back.
  static func text(_ orders: [DocumentOrder]) -> String {
    orders.map { $0.path.text + ($0.isDescending ? " desc" : "") }.joined(separator: ", ")
  }
}
