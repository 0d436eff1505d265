import Foundation
import Synchronization
import Testing

@testable import TernFirebaseCompat

@Suite struct DocumentTests {
  private struct City: Codable, Equatable {
    var name: String
    var postCount = 1
    var founded = Date(timeIntervalSince1970: 0)
    var flag = Data([1])
  }

  @Test("at least, inside of an or; smallest and largest numbers")
  func filtersAndTransforms() async throws {
    let server = try await LocalServer()
    let db = server.firestore()
    let cities = db.collection("cities")
    for number in 1...4 { try await cities.document("\(number)").setData(["n": number]) }
    let found = try await cities.whereFilter(
      .orFilter([
        .whereField("n", isGreaterOrEqualTo: 4),
        .whereField(FieldPath(["n"]), isEqualTo: 1),
        .whereField(FieldPath(["n"]), isGreaterOrEqualTo: 4),
      ])
    ).getDocuments()
    #expect(found.documents.map(\.documentID) == ["1", "4"])
    let one = cities.document("1")
    try await one.setData([
      "low": FieldValue.minimum(Int64(3)), "high": FieldValue.maximum(2.5),
    ])
    try await one.updateData([
      "low": FieldValue.minimum(1.5), "high": FieldValue.maximum(Int64(2)),
    ])
    let data = try await one.getDocument().data()
    #expect(data?["low"] as? Double == 1.5 && data?["high"] as? Double == 2.5)
    await db.app.delete()
    await server.close()
  }

  @Test("a wait for pending writes ends with those before it, also when the network was off")
  func pendingWrites() async throws {
    let server = try await LocalServer()
    let db = server.firestore()
    let heard = Answer<String>()
    let order = Mutex<[String]>([])
    func note(_ event: String, _ error: (any Error)?) {
      let all = order.withLock { order in
        order.append(event + (error == nil ? "" : " failed"))
        return order
      }
      if all.count == 3 { heard.give(all.joined(separator: ", ")) }
    }
    try await db.disableNetwork()
    db.document("cities/1").setData(["n": 1]) { note("first", $0) }
    db.waitForPendingWrites { note("wait", $0) }
    db.document("cities/2").setData(["n": 2]) { note("second", $0) }
    #expect(try await db.document("cities/2").getDocument(source: .cache).exists)
    #expect(order.withLock { $0 }.isEmpty)
    try await db.enableNetwork()
    #expect(await heard.next() == "first, wait, second")
    await db.app.delete()
    await server.close()
  }

  @Test("documents are read decoded, and coded by the strategies that are chosen")
  func coding() async throws {
    let server = try await LocalServer()
    let db = server.firestore()
    let doc = db.document("cities/SF")
    let encoder = Firestore.Encoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.dateEncodingStrategy = .iso8601
    encoder.dataEncodingStrategy = .base64
    let fields = try encoder.encode(City(name: "SF"))
    #expect(fields["post_count"] as? Int == 1 && fields["flag"] as? String == "AQ==")
    #expect(fields["founded"] as? String == "1970-01-01T00:00:00Z")
    try doc.setData(from: City(name: "SF"), encoder: encoder)
    let decoder = Firestore.Decoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    decoder.dateDecodingStrategy = .iso8601
    decoder.dataDecodingStrategy = .base64
    #expect(try await doc.getDocument(as: City.self, decoder: decoder) == City(name: "SF"))
    let answer = Answer<String>()
    doc.getDocument(as: City.self, decoder: decoder, source: .cache) { result in
      answer.give((try? result.get().name) ?? "none")
    }
    #expect(await answer.next() == "SF")
    doc.getDocument(as: City.self) { result in
      if case .failure(let error) = result { answer.give("\(error is DecodingError)") }
    }
    #expect(await answer.next() == "true")

    try await doc.setData(["name": "a", "postCount": 5])
    let batch = db.batch()
    try batch.setData(from: City(name: "b"), forDocument: doc, mergeFields: ["name"])
    try await batch.commit()
    _ = try await db.runTransaction { transaction, _ in
      try? transaction.setData(
        from: City(name: "c", postCount: 9), forDocument: db.document("cities/T"),
        mergeFields: ["postCount"])
    }
    let merged = try await doc.getDocument()
    #expect(merged["name"] as? String == "b" && merged["postCount"] as? Int == 5)
    #expect(merged.data()?.count == 2)
    let other = try await db.document("cities/T").getDocument().data()
    #expect(other as? [String: Int] == ["postCount": 9])
    await db.app.delete()
    await server.close()
  }

  @Test("types of documents choose their coder")
  func foreignCoders() throws {
    let reference = DocumentReference.self
    #expect(throws: FirestoreDecodingError.self) {
      try JSONDecoder().decode([String: DocumentReference].self, from: Data(#"{"a": 1}"#.utf8))
    }
    #expect(throws: FirestoreEncodingError.self) {
      try JSONEncoder().encode(["a": FieldValue.delete()])
    }
    struct Far: Codable { var at = Date(timeIntervalSince1970: 1e15) }
    #expect(throws: EncodingError.self) { try Firestore.Encoder().encode(Far()) }
    #expect(throws: EncodingError.self) { try Firestore.Encoder().encode([1]) }
    #expect(throws: EncodingError.self) { try Firestore.Encoder().encode(["a": Double.nan]) }
    let late = Timestamp(seconds: 2, nanoseconds: 0)
    #expect(late.compare(Timestamp(seconds: 1, nanoseconds: 5)) == .orderedDescending)
    #expect(late.compare(late) == .orderedSame)
    #expect(try Date.unwrap(Date(timeIntervalSince1970: 2)) == late)
    #expect(try Timestamp.unwrap(late) == late)
    _ = reference
  }

  @Test("the changes of a slow reader's results add up")
  func slowReader() async throws {
    let server = try await LocalServer()
    let db = server.firestore()
    let cities = db.collection("cities")
    var results = cities.snapshots.makeAsyncIterator()
    var states = db.document("cities/7").snapshots.makeAsyncIterator()
    #expect(try await results.next()?.isEmpty == true)
    #expect(try await states.next()?.exists == false)
    for number in 1...40 {
      try await cities.document("7").setData(["n": number])
      try await cities.document("other\(number)").setData(["n": number])
    }
    var known: [String: Int] = [:]
    var seen: [Int] = []
    while known.count < 41 || known["7"] != 40 {
      let snapshot = try #require(try await results.next())
      for change in snapshot.documentChanges {
        if change.document.documentID == "7" { seen.append(change.document["n"] as? Int ?? 0) }
        known[change.document.documentID] = change.document["n"] as? Int
      }
    }
    #expect(seen == Array(1...40))
    var last = 0
    while last < 40 {
      let number = try #require(try await states.next())["n"] as? Int ?? 0
      #expect(number == last || number == last + 1)
      last = number
    }
    await db.app.delete()
    await server.close()
  }

  @Test("a reader that lets too much wait gets an error")
  func bufferLimit() async throws {
    let registration = Registration()
    let stream: AsyncThrowingStream<Int, any Error> = bufferedSnapshots(limit: 2) { listener in
      for number in 1...3 { listener(number, nil) }
      return registration
    }
    var numbers: [Int] = []
    do {
      for try await number in stream { numbers.append(number) }
      Issue.record("the sequence ends with an error")
    } catch {
      #expect(FirestoreErrorCode(error)?.code == .resourceExhausted)
    }
    #expect(numbers == [1, 2])
  }

  private final class Registration: ListenerRegistration { func remove() {} }

  @Test("the parts of a query for a view are applied, and its results decoded")
  func predicates() async throws {
    let server = try await LocalServer()
    let db = server.firestore()
    let cities = db.collection("cities")
    for number in 1...5 {
      try await cities.document("\(number)").setData(["n": number, "tags": ["t\(number)"]])
    }
    let cases: [([QueryPredicate], [String])] = [
      ([.where("n", isEqualTo: 2)], ["2"]),
      ([.whereField("n", isIn: [1, 2])], ["1", "2"]),
      ([.where("n", isNotIn: [1, 2])], ["3", "4", "5"]),
      ([.where(field: "tags", arrayContains: "t3")], ["3"]),
      ([.whereField("tags", arrayContainsAny: ["t3", "t4"])], ["3", "4"]),
      ([.where("n", isLessThan: 2)], ["1"]),
      ([.whereField("n", isGreaterThan: 4)], ["5"]),
      ([.where("n", isLessThanOrEqualTo: 2), .limit(to: 1)], ["1"]),
      (
        [.whereField("n", isGreaterThanOrEqualTo: 4), .order(by: "n", descending: true)],
        ["5", "4"]
      ),
      ([.order(by: "n"), .limit(toLast: 2)], ["4", "5"]),
    ]
    for (predicates, ids) in cases {
      let found = try await cities.refined(by: predicates).getDocuments()
      #expect(found.documents.map(\.documentID) == ids)
    }
    struct Counted: Decodable, Equatable { var n: Int }
    try await cities.document("2").updateData(["n": "two"])
    let snapshot = try await cities.refined(by: [.limit(to: 3)]).getDocuments()
    let lenient = DecodedResult<Counted>(snapshot, .ignore)
    #expect(lenient.items == [Counted(n: 1), Counted(n: 3)] && lenient.error is DecodingError)
    #expect(try lenient.result.get().count == 2)
    let strict = DecodedResult<Counted>(snapshot, .raise)
    #expect(strict.items.isEmpty && strict.error is DecodingError)
    #expect(throws: DecodingError.self) { try strict.result.get() }
    #expect(throws: CancellationError.self) {
      try DecodedResult<Counted>(error: CancellationError()).result.get()
    }
    await db.app.delete()
    await server.close()
  }
}
