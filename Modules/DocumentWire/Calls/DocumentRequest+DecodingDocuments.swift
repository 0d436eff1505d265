import TernCore
import TernQuery

/// Requests about documents by name.
extension ProtoReader {
  typealias RequestBody = DocumentRequest.Body

  mutating func getDocument(_ names: inout DocumentNames) throws(DocumentWireError) -> RequestBody {
    var key: DocumentKey?
    var mask: [DocumentFieldPath]?
    var point = DocumentReadPoint.now
    while let field = try next() {
      switch field {
      case 1: key = try names.key(bytes, try text())
      case 2: mask = try self.mask()
      case 3: point = .transaction(try data())
      case 5: point = .time(try version())
      default: try skip()
      }
    }
    guard let key else { throw .document(.invalidResourceName("")) }
    return .get(key, mask: mask, point)
  }

  mutating func batchGet(_ names: inout DocumentNames) throws(DocumentWireError) -> RequestBody {
    var keys: [DocumentKey] = []
    var mask: [DocumentFieldPath]?
    var point = DocumentReadPoint.now
    while let field = try next() {
      switch field {
      case 1: try names.readDatabase(try string())
      case 2: keys.append(try names.key(bytes, try text()))
      case 3: mask = try self.mask()
      case 4: point = .transaction(try data())
      case 5: point = .begin(try transactionOptions(otherwise: .readOnly(nil)))
      case 7: point = .time(try version())
      default: try skip()
      }
    }
    return .batchGet(keys, mask: mask, point)
  }

  mutating func listDocuments(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> RequestBody {
    var listing = DocumentListing(parent: nil, collectionID: nil)
    while let field = try next() {
      switch field {
      case 1: listing.parent = try names.parent(try string())
      case 2:
        let id = try string()
        listing.collectionID = id.isEmpty ? nil : id
      case 3: listing.page.size = Int(try int32())
      case 4: listing.page.token = try string()
      case 6: listing.orders = try DocumentOrder.list(try string())
      case 7: listing.mask = try mask()
      case 8: listing.readPoint = .transaction(try data())
      case 10: listing.readPoint = .time(try version())
      case 12: listing.showsMissing = try bool()
      default: try skip()
      }
    }
    if listing.page.size < 0 { throw .member("Page size must be nonnegative.") }
    if listing.showsMissing, !listing.orders.isEmpty {
      throw .member("show_missing cannot be used together with order_by.")
    }
    return .list(listing)
  }

  mutating func createDocument(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> RequestBody {
    var (collectionID, id) = ("", "")
    var parent: DocumentKey?
    var fields = DocumentFields.empty
    var mask: [DocumentFieldPath]?
    while let field = try next() {
      switch field {
      case 1: parent = try names.parent(try string())
      case 2: collectionID = try string()
      case 3: id = try string()
      case 4:
        var message = try message()
        fields = try message.document(&names).fields
      case 5: mask = try self.mask()
      default: try skip()
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

  mutating func updateDocument(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> RequestBody {
    var document: WireDocument?
    var (updated, mask): ([DocumentFieldPath]?, [DocumentFieldPath]?) = (nil, nil)
    var precondition = DocumentPrecondition.none
    while let field = try next() {
      switch field {
      case 1:
        var message = try message()
        document = try message.document(&names)
      case 2: updated = try self.mask()
      case 3: mask = try self.mask()
      case 4: precondition = try self.precondition()
      default: try skip()
      }
    }
    guard let document else { throw .member("the request has no document") }
    let change: DocumentMutation.Change =
      updated.map { .patch(document.fields, mask: DocumentFieldMask($0)) } ?? .set(document.fields)
    return .update(
      DocumentMutation(try document.named().key, change, precondition: precondition), mask: mask)
  }

  mutating func deleteDocument(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> RequestBody {
    var key: DocumentKey?
    var precondition = DocumentPrecondition.none
    while let field = try next() {
      switch field {
      case 1: key = try names.key(bytes, try text())
      case 2: precondition = try self.precondition()
      default: try skip()
      }
    }
    guard let key else { throw .document(.invalidResourceName("")) }
    return .delete(DocumentMutation(key, .delete, precondition: precondition))
  }

  mutating func listCollections(
    _ names: inout DocumentNames
  ) throws(DocumentWireError) -> RequestBody {
    var parent: DocumentKey?
    var page = DocumentPageRequest()
    var point = DocumentReadPoint.now
    while let field = try next() {
      switch field {
      case 1: parent = try names.parent(try string())
      case 2: page.size = Int(try int32())
      case 3: page.token = try string()
      case 4: point = .time(try version())
      default: try skip()
      }
    }
    if page.size < 0 { throw .member("Page size must be nonnegative.") }
    return .listCollections(below: parent, page, point)
  }

  mutating func batchWrite(_ names: inout DocumentNames) throws(DocumentWireError) -> RequestBody {
    var writes: [DocumentMutation] = []
    while let field = try next() {
      switch field {
      case 1: try names.readDatabase(try string())
      case 2:
        var message = try message()
        writes.append(try message.write(&names))
      default: try skip()
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
  /// Reads the text form of an order: `a.b desc, __name__`.
  static func list(_ text: String) throws(DocumentWireError) -> [DocumentOrder] {
    var orders: [DocumentOrder] = []
    for part in text.split(separator: ",") {
      let words = part.split(separator: " ")
      let direction = words.count == 2 ? words[1].lowercased() : "asc"
      guard 1...2 ~= words.count, direction == "asc" || direction == "desc" else {
        throw .member("Invalid order by clause \"\(text)\".")
      }
      do throws(DocumentError) {
        let path = try DocumentFieldPath(service: String(words[0]))
        orders.append(DocumentOrder(path, isDescending: direction == "desc"))
      } catch {
        throw .document(error)
      }
    }
    return orders
  }

  /// Orders in their text form.
  static func text(_ orders: [DocumentOrder]) -> String {
    orders.map { $0.path.text + ($0.isDescending ? " desc" : "") }.joined(separator: ", ")
  }
}
