import TernCore
import Testing

@testable import TernQuery

@Suite("Declared indexes of documents") struct DocumentIndexCatalogTests {
  private static let declared = #"""
    {
      "indexes": [
        {"collectionGroup": "c", "queryScope": "COLLECTION", "fields": [
          {"fieldPath": "a", "order": "ASCENDING"}, {"fieldPath": "b", "order": "DESCENDING"}]},
        {"collectionGroup": "c", "queryScope": "COLLECTION", "fields": [
          {"fieldPath": "e", "order": "DESCENDING"}, {"fieldPath": "b", "order": "DESCENDING"}]},
        {"collectionGroup": "c", "fields": [
          {"fieldPath": "tags", "arrayConfig": "CONTAINS"}, {"fieldPath": "b", "order": "ASCENDING"}]},
        {"collectionGroup": "c", "queryScope": "COLLECTION_GROUP", "fields": [
          {"fieldPath": "a", "order": "ASCENDING"}, {"fieldPath": "b", "order": "ASCENDING"}]},
        {"collectionGroup": "k", "queryScope": "COLLECTION", "fields": [
          {"fieldPath": "a", "order": "ASCENDING"}, {"fieldPath": "__name__", "order": "DESCENDING"}]}
      ],
      "fieldOverrides": [
        {"collectionGroup": "c", "fieldPath": "big", "indexes": []},
        {"collectionGroup": "c", "fieldPath": "`my-name`", "indexes": [
          {"order": "ASCENDING", "queryScope": "COLLECTION_GROUP"}]}
      ]
    }
    """#

  private static let collection = DocumentQuery.collection(CollectionPath(unchecked: "c"))

  private func need(
    _ query: DocumentQuery, _ catalog: String = declared
  ) throws -> String? {
    try DocumentIndexCatalog(Array(catalog.utf8)).need(of: query)?.text
  }

  @Test("queries that indexes of single fields serve need no other")
  func singles() throws {
    let all = Self.collection
    for query in [
      all, try all.where("x", .equal, 1), try all.where("x", .equal, 1).where("y", .equal, 2),
      try all.where("x", .greaterThan, 1), try all.ordered(by: "x"),
      try all.ordered(by: "x", isDescending: true),
      try all.where("x", .greaterThan, 1).ordered(by: "x", isDescending: true),
      try all.where("x", .in, [1, 2]), try all.where("tags", .arrayContains, 1),
      try all.where("tags", .arrayContains, 1).where("x", .equal, 1),
      try all.where("x", .equal, 1).ordered(by: "x"),
      try .group("c"),
    ] {
      #expect(try need(query) == nil, "\(query)")
    }
  }

  @Test("indexes serve the order they have, and are merged for fields with single values")
  func composites() throws {
    let all = Self.collection
    let a = try all.where("a", .equal, 1)
    #expect(try need(a.ordered(by: "b", isDescending: true)) == nil)
    #expect(try need(a.where("b", .lessThan, 5).ordered(by: "b", isDescending: true)) == nil)
    let both = try a.where("e", .equal, 2)
    #expect(try need(both.ordered(by: "b", isDescending: true)) == nil)
    #expect(try need(all.where("tags", .arrayContains, 1).ordered(by: "b")) == nil)
    let ascending = try #require(try need(a.ordered(by: "b")))
    #expect(
      ascending == "The query requires an index. Declare it in firestore.indexes.json: "
        + #"{"collectionGroup":"c","queryScope":"COLLECTION","fields":["#
        + #"{"fieldPath":"a","order":"ASCENDING"},{"fieldPath":"b","order":"ASCENDING"}]}"#)
    #expect(try need(a.where("z", .equal, 1).ordered(by: "b", isDescending: true)) != nil)
    #expect(try need(all.ordered(by: "a").ordered(by: "b")) != nil)
    #expect(try need(all.where("x", .in, [1, 2]).ordered(by: "b")) != nil)
    // What is named can be declared as it is told.
    let entry = ascending.drop { $0 != "{" }
    #expect(try need(a.ordered(by: "b"), #"{"indexes": [\#(entry)]}"#) == nil)
  }

  @Test("the key's direction counts")
  func keys() throws {
    let all = Self.collection
    let descending = try all.ordered(by: "__name__", isDescending: true)
    let text = try #require(try need(descending))
    #expect(text.contains(#""fields":[{"fieldPath":"__name__","order":"DESCENDING"}]"#))
    let mixed = try all.ordered(by: "x", isDescending: true).ordered(by: "__name__")
    #expect(try need(mixed)?.contains(#"{"fieldPath":"__name__","order":"ASCENDING"}"#) == true)
    let k = DocumentQuery.collection(CollectionPath(unchecked: "k"))
    let other = try k.ordered(by: "a").ordered(by: "__name__", isDescending: true)
    #expect(try need(other) == nil)
  }

  @Test("groups and fields with overrides have the indexes that are declared for them alone")
  func overrides() throws {
    let group = try DocumentQuery.group("c")
    #expect(
      try need(group.where("x", .equal, 1))?
        .hasPrefix("The query requires a COLLECTION_GROUP_ASC index for collection c and field x.")
        == true)
    #expect(try need(group.where("a", .equal, 1).ordered(by: "b")) == nil)
    #expect(try need(group.where("a", .equal, 1).ordered(by: "b", isDescending: true)) != nil)
    let name = DocumentFieldPath(unchecked: ["my-name"])
    #expect(try need(group.where(name, .equal, 1)) == nil)
    #expect(try need(Self.collection.where(name, .equal, 1)) != nil, "only for the group")
    #expect(try need(Self.collection.where("big", .equal, 1))?.contains("COLLECTION_ASC") == true)
  }

  @Test(
    "fields are named in backquotes, with any character in them",
    arguments: [
      ("a.b", ["a", "b"]), ("`a.b`.c", ["a.b", "c"]), (#"`a\`b\\`"#, [#"a`b\"#]),
      ("my-name", ["my-name"]),
      ("a.\u{301}b", ["a", "\u{301}b"]), ("`\u{301}`", ["\u{301}"]), ("`a", nil), (#"`a\`"#, nil),
      ("a.", nil),
      ("``", nil), (".", nil),
    ] as [(String, [String]?)])
  func fields(path: String, names: [String]?) throws {
    let field = JSONValue.object([
      .init("fieldPath", .string(path)), .init("order", .string("ASCENDING")),
    ])
    let index = JSONValue.object([
      .init("collectionGroup", .string("c")),
      .init(
        "fields",
        .array([
          field,
          .object([
            .init("fieldPath", .string("z")), .init("order", .string("DESCENDING")),
          ]),
        ])),
    ])
    let text = JSONValue.object([.init("indexes", .array([index]))]).bytes
    guard let names else {
      let error = #expect(throws: DocumentIndexError.self) { try DocumentIndexCatalog(text) }
      guard case .badField(path, _)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      return
    }
    let catalog = try DocumentIndexCatalog(text)
    let query = try DocumentQuery.collection("c").where(DocumentFieldPath(names), .equal, 1)
      .ordered(by: "z", isDescending: true)
    #expect(catalog.need(of: query) == nil)
    #expect(DocumentIndexCatalog().need(of: query) != nil)
  }

  @Test(
    "what is no declaration is rejected",
    arguments: [
      "", "[]", #"{"indexes": 1}"#, #"{"indexes": [{}]}"#,
      #"{"indexes": [{"collectionGroup": "c", "fields": []}]}"#,
      #"{"indexes": [{"collectionGroup": "c", "fields": [{"fieldPath": "a"}]}]}"#,
      #"{"indexes": [{"collectionGroup": "c", "fields": [{"fieldPath": "", "order": "ASCENDING"}]}]}"#,
      #"{"indexes": [{"collectionGroup": "c", "queryScope": "ALL", "fields": []}]}"#,
      #"{"fieldOverrides": [{"collectionGroup": "c"}]}"#,
    ])
  func invalid(_ text: String) {
    #expect(throws: DocumentIndexError.self) { try DocumentIndexCatalog(Array(text.utf8)) }
  }
}
