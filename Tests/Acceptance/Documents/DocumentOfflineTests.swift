import TernClient
import TernCore
import TernDocumentReplica
import TernQuery
import Testing

/// Data, reads and writes without a connection, and what becomes of them with one.
@Suite struct DocumentOfflineTests {
  private static let cities = ["LA": 4, "NY": 8, "SF": 1] as [String: Int64]

  @Test("F01 what the app listened to is there when the network is cut", arguments: Setting.all)
  func cached(setting: Setting) async throws {
    let house = try await DocumentHouse(setting)
    try await house.seed("cities", Self.cities)
    let db = try await house.open("a")
    let large = db.collection("cities").where("n", .greaterThan, 2).order(by: "n")
    let heard = Trace()
    let listening = heard.listen(large)
    try await heard.wait(forLast: "[LA {n:4} NY {n:8}]")
    try house.unplug("a")
    try await heard.wait(forLast: "[LA {n:4} NY {n:8}] from cache")
    #expect(try await large.get().words == "[LA {n:4} NY {n:8}] from cache")
    #expect(try await large.get(from: .cache).rows == ["LA {n:4}", "NY {n:8}"])
    listening.cancel()
    #expect(try await large.get().rows == ["LA {n:4}", "NY {n:8}"])
    try await house.close()
  }

  @Test(
    "F02 without a server, cached data is written, read, listened to and queried",
    arguments: Setting.all)
  func withoutServer(setting: Setting) async throws {
    let house = try await DocumentHouse(setting)
    try await house.seed("cities", Self.cities)
    let db = try await house.open("a")
    let cities = db.collection("cities")
    _ = try await cities.get(from: .server)
    await house.house.killServer()
    let heard = Trace()
    let listening = heard.listen(cities.order(by: "n").last(2))
    try await heard.wait(forLast: "[LA {n:4} NY {n:8}] from cache")
    try await cities.document("DC").set(["n": 9])
    try await cities.document("NY").update(["n": 3])
    try await heard.wait(forLast: "[LA {n:4} DC {n:9}] from cache pending")
    #expect(try await cities.document("NY").get().row == "NY {n:3}")
    #expect(try await cities.document("SF").get().row == "SF {n:1}")
    let odd = try await cities.where("n", .in, [1, 3, 9]).get()
    #expect(odd.words == "[DC {n:9} NY {n:3} SF {n:1}] from cache pending")
    listening.cancel()
    try await house.close()
  }

  @Test(
    "F03 a hundred offline writes make the server what the device was", arguments: Setting.all)
  func synchronised(setting: Setting) async throws {
    let house = try await DocumentHouse(setting)
    try await house.seed("log", ["base": 7, "gone": 1])
    let db = try await house.open("a")
    let log = db.collection("log")
    _ = try await log.get(from: .server)
    await house.house.killServer()
    for number in 0..<100 {
      let document = log.document("d\(number % 30)")
      switch number % 5 {
      case 0, 1: try await document.set(["n": .value(.integer(Int64(number)))])
      case 2: try await log.document("base").update(["n": .transform(.increment(.integer(1)))])
      case 3:
        var batch = db.batch()
        batch.set(document, to: ["m": .value(.integer(Int64(number)))], merging: true)
        batch.set(log.document("last"), to: ["n": .value(.integer(Int64(number)))])
        _ = try await batch.commit()
      default: try await (number == 99 ? log.document("gone") : document).remove()
      }
    }
    let local = try await log.get(from: .cache)
    #expect(local.metadata.hasPendingWrites)
    #expect(local.rows.contains("base {n:27}"))
    try await house.house.startServer()
    try await db.waitForPendingWrites()
    #expect(try await house.serverRows("log") == local.rows)
    #expect(await db.queueStatus == (await db.queueStatus.emptied))
    try await house.close()
  }

  /// The changes of the network while one and the same program runs.
  enum Network: String, CaseIterable, Sendable {
    case online, offline, flapping
  }

  @Test(
    "F04 the same program sees the same, online, offline and on a bad network",
    arguments: Setting.all, Network.allCases)
  func sameProgram(setting: Setting, network: Network) async throws {
    let house = try await DocumentHouse(setting)
    let db = try await house.open("a")
    if network == .offline { try house.unplug("a") }
    func trouble() throws { if network == .flapping { try house.flap("a") } }
    // Nothing in here knows about the network.
    let notes = db.collection("notes")
    let heard = Trace()
    let listening = heard.listen(notes.where("open", .equals, true).order(by: "n"), metadata: false)
    for number in 1...6 {
      try await notes.document("\(number)").set(
        ["n": .value(.integer(Int64(number))), "open": .value(.boolean(number != 2))])
      try trouble()
    }
    try await notes.document("3").update(["n": 30])
    try trouble()
    try await notes.document("4").remove()
    try trouble()
    let expected = [
      "1 {n:1,open:true}", "5 {n:5,open:true}", "6 {n:6,open:true}", "3 {n:30,open:true}",
    ]
    try await heard.wait {
      $0.last?.hasPrefix("[\(expected.joined(separator: " "))]") ?? false
    }
    #expect(try await notes.where("open", .equals, true).order(by: "n").get().rows == expected)
    #expect(try await notes.document("2").get().row == "2 {n:2,open:false}")
    // And the server ends up with the same.
    try house.mend("a")
    try await db.waitForPendingWrites()
    #expect(try await house.serverRows("notes") == (expected + ["2 {n:2,open:false}"]).sorted())
    listening.cancel()
    try await house.close()
  }

  @Test(
    "F12 every document received is kept, also by a single read, also over a restart",
    arguments: Setting.all)
  func received(setting: Setting) async throws {
    let house = try await DocumentHouse(setting)
    try await house.seed("cities", Self.cities)
    try await house.seed("other", ["x": 1])
    let db = try await house.open("a")
    #expect(try await db.document("cities/SF").get().row == "SF {n:1}")
    let result = try await db.collection("cities").where("n", .greaterThan, 2).get()
    #expect(result.words == "[LA {n:4} NY {n:8}]")
    try house.unplug("a")
    let again = try await house.restart("a")
    #expect(try await again.document("cities/SF").get().row == "SF {n:1}")
    #expect(
      try await again.collection("cities").get().words
        == "[LA {n:4} NY {n:8} SF {n:1}] from cache")
    #expect(try await again.collection("other").get().rows == [])
    try await house.close()
  }
}

extension DocumentQueueStatus {
  /// The status of an empty queue without rejections.
  fileprivate var emptied: DocumentQueueStatus? {
    pending.isEmpty && rejected.isEmpty ? self : nil
  }
}
