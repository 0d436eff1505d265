import TernTestKit
import Testing

@testable import TernCore

@Suite("Document names")
struct DocumentNameTests {
  @Test("paths have the parity of what they name; outer slashes are dropped")
  func parity() throws {
    #expect(try DocumentKey.init("/a/b/").text == "a/b")
    #expect(try CollectionPath("a/b/c").parent?.text == "a/b")
    #expect(try DocumentKey.init("a/b/c/d").collectionID == "c")
    #expect(throws: DocumentError.notDocument(path: "a")) { try DocumentKey.init("a") }
    #expect(throws: DocumentError.notDocument(path: "")) { try DocumentKey.init("") }
    #expect(throws: DocumentError.notCollection(path: "a/b")) { try CollectionPath("a/b") }
    #expect(throws: DocumentError.emptySegment(path: "a//b")) { try DocumentKey.init("a//b") }
  }

  @Test(
    "ids that are reserved, dots or too long are refused", arguments: [".", "..", "__a__", "_____"])
  func reserved(id: String) {
    #expect(throws: DocumentError.invalidID(id)) { try DocumentKey.init("a/" + id) }
  }

  @Test("lengths and depth are limited")
  func lengths() throws {
    let long = String(repeating: "x", count: 1_501)
    #expect(throws: DocumentError.idTooLong(byteCount: 1_501, limit: 1_500)) {
      try DocumentKey.init("a/" + long)
    }
    let deep = String(repeating: "a/b/", count: 101)
    #expect(throws: DocumentError.tooManyCollections(count: 101, limit: 100)) {
      try DocumentKey(deep)
    }
    let wide = Array(repeating: String(long.dropLast()), count: 6).joined(separator: "/")
    #expect(throws: DocumentError.nameTooLong(byteCount: 9_005, limit: 6_144)) {
      try DocumentKey(wide)
    }
    _ = try DocumentKey.init("a/____")
    _ = try DocumentKey.init("a/__id-12__")
    #expect(throws: DocumentError.invalidID("__idx__")) { try DocumentKey.init("a/__idx__") }
    #expect(throws: DocumentError.invalidID("x/y")) { try CollectionPath("a").document("x/y") }
  }

  @Test("keys sort by segments: numbers first, a prefix before what extends it")
  func order() {
    let ascending: [DocumentKey] = [
      "a/__id-3__", "a/__id7__", "a/__id10__", "a/__id", "a/b", "a/b/c/d", "a/b!", "a/b-",
      "a/é", "a/\u{FFFF}", "a/\u{10000}", "a!/b", "a0/b",
    ]
    for (i, left) in ascending.enumerated() {
      for (j, right) in ascending.enumerated() {
        #expect(left.compare(right).signum() == (i - j).signum(), "\(left) \(right)")
      }
    }
    let composed: DocumentKey = "a/é"
    #expect(composed != "a/e\u{301}")
  }

  @Test("resource names are taken apart and put together")
  func resourceName() throws {
    let text = "projects/p/databases/(default)/documents/a/b"
    let name = try DocumentName(resourceName: text)
    #expect(name.key == "a/b")
    #expect(name.resourceName == text)
    #expect(throws: DocumentError.self) {
      try DocumentName(resourceName: "projects/p/databases/x/documents")
    }
    #expect(throws: DocumentError.invalidDatabaseID("Ab12")) {
      try DocumentDatabase(projectID: "p", databaseID: "Ab12")
    }
  }

  @Test("a collection contains its own documents only")
  func containment() throws {
    let cities = try CollectionPath("cities")
    #expect(cities.contains("cities/SF"))
    #expect(!cities.contains("cities/SF/x/y"))
    #expect(!cities.contains("city/SF"))
  }

  @Test("field paths are read in three spellings")
  func fieldPaths() throws {
    #expect(try DocumentFieldPath(dotted: "a.b").names == ["a", "b"])
    for text in ["a..b", ".a", "a.", "", "a*", "a[0]", "a/b", "~a"] {
      #expect(throws: DocumentError.invalidFieldPath(text)) { try DocumentFieldPath(dotted: text) }
    }
    let names = ["a.b", "2x", "bak`t\\ik", "ok_1", "é"]
    let path = try DocumentFieldPath(names)
    #expect(path.text == "`a.b`.`2x`.`bak\\`t\\\\ik`.ok_1.`é`")
    #expect(try DocumentFieldPath(wire: path.text) == path)
    for text in ["`a", "a\\", "a\\x", "a..b", "``"] {
      #expect(throws: DocumentError.invalidFieldPath(text)) { try DocumentFieldPath(wire: text) }
    }
  }

  @Test("automatic ids are twenty letters and digits")
  func automaticIDs() {
    var random = SeededGenerator(seed: 1)
    let ids = (0..<100).map { _ in DocumentIDGenerator.next { random.next() } }
    #expect(ids.allSatisfy { $0.utf8.count == 20 })
    #expect(Set(ids).count == 100)
  }
}
