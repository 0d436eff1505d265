import TernCore
import TernDocumentReplica
import TernQuery
import Testing

@Suite("Bundles")
struct BundleReaderTests {
  private let names = "projects/p/databases/(default)/documents"

  private func element(_ json: String) -> String { "\(json.utf8.count)\(json)" }

  private func bundle(documents: Int, _ elements: [String]) throws -> DocumentBundle {
    let body = elements.map(element).joined()
    let metadata = element(
      #"{"metadata":{"id":"b","createTime":"2024-02-29T12:00:00.5Z","version":1,"#
        + #""totalDocuments":\#(documents),"totalBytes":\#(body.utf8.count)}}"#)
    return try BundleReader.read(
      Array((metadata + body).utf8), of: DocumentDatabase(projectID: "p"))
  }

  @Test("documents, their absence, and named queries are read")
  func everything() throws {
    let read = try bundle(
      documents: 2,
      [
        #"{"namedQuery":{"name":"top","readTime":{"seconds":"7"},"bundledQuery":{"parent":"\#(names)","#
          + #""limitType":"LAST","structuredQuery":{"from":[{"collectionId":"a"}],"limit":{"value":2},"#
          + #""orderBy":[{"field":{"fieldPath":"x"},"direction":"DESCENDING"}],"where":{"fieldFilter":"#
          + #"{"field":{"fieldPath":"x"},"op":"GREATER_THAN","value":{"integerValue":"1"}}}}}}}"#,
        #"{"documentMetadata":{"name":"\#(names)/a/1","readTime":{"seconds":7},"exists":true,"queries":["top"]}}"#,
        #"{"document":{"name":"\#(names)/a/1","updateTime":"1970-01-01T00:00:05Z","fields":{"x":{"integerValue":"3"}}}}"#,
        #"{"documentMetadata":{"name":"\#(names)/a/2","readTime":{"seconds":7},"exists":false}}"#,
      ])
    #expect(read.metadata.createTime.microseconds == 1_709_208_000_500_000)
    let x = DocumentFieldPath(unchecked: ["x"])
    let expected = try DocumentQuery.collection(CollectionPath("a"))
      .where(x, .greaterThan, 1).ordered(by: x, isDescending: true).last(2)
    #expect(read.queries.map(\.query) == [expected])
    #expect(read.documents.map(\.document.key.text) == ["a/1", "a/2"])
    #expect(read.documents.map(\.document.version.microseconds) == [5_000_000, 7_000_000])
    #expect(read.documents[0].queries == ["top"])
    #expect(read.documents[0].document.fields?["x"] == 3)
    #expect(read.documents[1].document.state == .missing)
  }

  @Test(
    "what is no bundle is refused as a whole",
    arguments: ["", "12", "999{}", "x{}", "2{}", "5{\"a\"}", "12345678901234567{}"])
  func refused(text: String) {
    #expect(throws: BundleError.self) {
      try BundleReader.read(Array(text.utf8), of: DocumentDatabase(projectID: "p"))
    }
  }

  @Test("fewer documents than announced are refused")
  func incomplete() throws {
    #expect(throws: BundleError.self) { try bundle(documents: 0, ["{}"]) }
    #expect(throws: BundleError.self) { try bundle(documents: 1, []) }
    #expect(throws: BundleError.self) {
      try bundle(
        documents: 1,
        [#"{"documentMetadata":{"name":"\#(names)/a/1","readTime":{"seconds":7},"exists":true}}"#])
    }
    #expect(throws: BundleError.self) {
      try bundle(
        documents: 1,
        [
          #"{"documentMetadata":{"name":"projects/q/databases/(default)/documents/a/1","#
            + #""readTime":{"seconds":7},"exists":false}}"#
        ])
    }
  }
}
