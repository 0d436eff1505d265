import Foundation
import TernFirebaseCompat
import Testing

@Suite struct FirestoreBundleTests {
  /// A bundle of one document and a query that gives it.
  private func bundle() -> Data {
    let root = "projects/demo/databases/(default)/documents"
    let time = #"{"seconds":"1700000000","nanos":0}"#
    let query = """
      {"namedQuery":{"name":"all-cities","readTime":\(time),"bundledQuery":{\
      "parent":"\(root)","limitType":"FIRST","structuredQuery":{\
      "from":[{"collectionId":"cities"}],\
      "orderBy":[{"field":{"fieldPath":"__name__"},"direction":"ASCENDING"}]}}}}
      """
    let announced = """
      {"documentMetadata":{"name":"\(root)/cities/SF","readTime":\(time),"exists":true,\
      "queries":["all-cities"]}}
      """
    let document = """
      {"document":{"name":"\(root)/cities/SF","createTime":\(time),"updateTime":\(time),\
      "fields":{"state":{"stringValue":"CA"}}}}
      """
    let body = [query, announced, document].map { "\($0.utf8.count)\($0)" }.joined()
    let head = """
      {"metadata":{"id":"b","createTime":\(time),"version":1,"totalDocuments":1,\
      "totalBytes":\(body.utf8.count)}}
      """
    return Data("\(head.utf8.count)\(head)\(body)".utf8)
  }

  @Test("a bundle is there offline, by its documents and its queries", arguments: Setting.storages)
  func bundles(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try house.firestore("a", online: false)
    let heard = Trace()
    let task = db.loadBundle(bundle()) { progress, error in
      heard.add("\(progress?.documentsLoaded ?? -1) of \(progress?.totalDocuments ?? -1)")
    }
    #expect(try await heard.wait(for: 1) == ["1 of 1"])
    task.addObserver { progress in heard.add("\(progress.state)") }
    #expect(try await heard.wait(for: 2).last == "success")
    let query = try #require(await db.getQuery(named: "all-cities"))
    let found = try await query.getDocuments(source: .cache)
    #expect(found.documents.map { $0.data() as? [String: String] } == [["state": "CA"]])
    #expect(await db.getQuery(named: "other") == nil)
    let stream = InputStream(data: bundle())
    db.loadBundle(stream) { progress, _ in heard.add("stream \(progress?.totalBytes ?? 0)") }
    #expect(try await heard.wait(for: 3).last == "stream \(bundle().count)")
    do {
      _ = try await db.loadBundle(Data("12x".utf8))
      Issue.record("this is no bundle")
    } catch let error as NSError {
      #expect(FirestoreErrorCode(error)?.code == .invalidArgument)
      let words = "The bundle cannot be read: the element at byte 2 does not begin with its length"
      #expect(error.localizedDescription.hasPrefix(words))
      #expect(await db.getQuery(named: "all-cities") != nil)
    }
    try await house.close()
  }
}
