import Testing

@testable import TernCore
@testable import TernDocumentAuthority
@testable import TernQuery
@testable import TernStorage

/// Rows of collections whose paths are so long that their keys are cut are listed like others.
@Suite("collections of long paths")
struct LongPathTests {
  /// Ids so long that no row holds the path of a collection below them, with a text that tells
  /// them apart at their end.
  struct Ids: CustomTestStringConvertible {
    let top: String
    let filler: String
    let count: Int
    let testDescription: String

    func id(_ end: String) -> String {
      String(repeating: filler, count: count - end.utf8.count) + end
    }

    static let all = [
      Ids(
        top: String(repeating: "x", count: 1_500), filler: "y", count: 1_500,
        testDescription: "long"),
      Ids(
        top: String(repeating: "x", count: 1_500), filler: "y", count: 1_470,
        testDescription: "about as long as a row"),
      // Each is two bytes in a row.
      Ids(top: "x", filler: "\0", count: 1_500, testDescription: "nulls"),
      Ids(top: "x", filler: "y", count: 10, testDescription: "short"),
    ]
  }

  private static let ends = (0..<20).map { String(UnicodeScalar(UInt8(97 + $0))) }

  /// A store in which below every other document of a collection there are others; every third
  /// is missing itself.
  private func store(_ ids: Ids) throws -> (store: AuthorityStore, collection: CollectionPath) {
    let store = try AuthorityStore()
    let collection = CollectionPath(unchecked: "c/\(ids.top)/d")
    for (index, end) in Self.ends.enumerated() {
      let key = collection.text + "/" + ids.id(end)
      var writes: [DocumentMutation] = []
      if index % 3 != 0 { writes.append(set(DocumentKey(unchecked: key), [:])) }
      if index % 2 == 0 {
        writes.append(set(DocumentKey(unchecked: key + "/f/g"), [:]))
        writes.append(set(DocumentKey(unchecked: key + "/e/g/h/i"), [:]))
      }
      if !writes.isEmpty { try store.write(writes) }
    }
    return (store, collection)
  }

  private func read<R>(
    _ store: AuthorityStore, _ body: (any StoreReader) throws(StorageError) -> R
  ) throws -> R {
    try store.read { reader throws(StorageError) in
      try body(ObservedReader(reader, scanLimit: 20_000))
    }
  }

  @Test("missing documents come in order, page by page", arguments: Ids.all, [1, 7, 100])
  func missing(ids: Ids, pageSize: Int) throws {
    let (store, collection) = try store(ids)
    var found: [String] = []
    var token: [UInt8] = []
    repeat {
      let page = try read(store) { reader throws(StorageError) in
        try store.authority.listings.list(
          collection, showMissing: true, pageSize: pageSize, token: token, in: reader)
      }.get()
      found += page.elements.map { ($0.isFound ? "" : "?") + $0.key.text.suffix(1) }
      token = page.nextToken
    } while !token.isEmpty
    let expected = Self.ends.enumerated().compactMap { index, end in
      index % 3 != 0 ? end : index % 2 == 0 ? "?" + end : nil
    }
    #expect(found == expected)
  }

  @Test("collections below a document are listed", arguments: Ids.all)
  func collections(ids: Ids) throws {
    let (store, collection) = try store(ids)
    for (index, end) in Self.ends.enumerated() {
      let parent = DocumentKey(unchecked: collection.text + "/" + ids.id(end))
      let found = try read(store) { reader throws(StorageError) in
        try store.authority.listings.collectionIDs(below: parent, in: reader)
      }.get()
      #expect(found.elements == (index % 2 == 0 ? ["e", "f"] : []), "\(end)")
    }
    let above = DocumentKey(unchecked: "c/\(ids.top)")
    let found = try read(store) { reader throws(StorageError) in
      try store.authority.listings.collectionIDs(below: above, in: reader)
    }.get()
    #expect(found.elements == ["d"])
  }

  @Test("queries without a collection find all documents, also earlier ones", arguments: Ids.all)
  func descendants(ids: Ids) throws {
    let (store, collection) = try store(ids)
    var keys: [DocumentKey] = []
    for (index, end) in Self.ends.enumerated() {
      let key = collection.text + "/" + ids.id(end)
      if index % 3 != 0 { keys.append(DocumentKey(unchecked: key)) }
      if index % 2 == 0 {
        keys += [key + "/e/g/h/i", key + "/f/g"].map { DocumentKey(unchecked: $0) }
      }
    }
    let then = try store.read { reader throws(StorageError) in
      try store.authority.lastVersion(in: reader)
    }
    func found(_ parent: DocumentKey?, at time: DocumentVersion?) throws -> [DocumentKey] {
      let query = DocumentQuery.assembled(
        .all(below: parent, isRecursive: true), orders: [DocumentOrder(.key)])
      return try read(store) { reader throws(StorageError) in
        try store.authority.documents(of: query, at: time, in: reader)
      }.get().map(\.key)
    }
    let parents =
      [nil, DocumentKey(unchecked: "c/\(ids.top)")]
      + Self.ends.map { DocumentKey(unchecked: collection.text + "/" + ids.id($0)) }
    func expected(_ parent: DocumentKey?) -> [DocumentKey] {
      keys.filter { key in parent.map { key.text.hasPrefix($0.text + "/") } ?? true }
    }
    for parent in parents { #expect(try found(parent, at: nil) == expected(parent)) }
    try store.write(keys.map { .delete($0) })
    for parent in parents { #expect(try found(parent, at: then) == expected(parent)) }
  }
}
