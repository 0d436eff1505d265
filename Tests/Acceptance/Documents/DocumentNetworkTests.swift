import Synchronization
import TernClient
import TernCore
import TernDocumentReplica
import TernQuery
import Testing

/// Traffic that an application switches off.
@Suite struct DocumentNetworkTests {
  @Test(
    "F37 while the network is disabled, everything is served from the cache without any traffic",
    arguments: Setting.all)
  func noTraffic(setting: Setting) async throws {
    let house = try await DocumentHouse(setting)
    try await house.seed("cities", ["LA": 4, "SF": 1])
    let traffic = Mutex(0)
    let db = try await house.open("a", tapped: { _ in traffic.withLock { $0 += 1 } })
    let cities = db.collection("cities")
    let heard = Trace()
    let listening = heard.listen(cities)
    try await heard.wait(forLast: "[LA {n:4} SF {n:1}]")
    #expect(traffic.withLock { $0 } > 0)
    await db.goOffline()
    try await heard.wait(forLast: "[LA {n:4} SF {n:1}] from cache")
    traffic.withLock { $0 = 0 }

    #expect(try await cities.document("SF").get().row == "SF {n:1}")
    #expect(try await cities.where("n", .equals, 4).get().words == "[LA {n:4}] from cache")
    #expect(try await cities.get(from: .cache).count == 2)
    let later = Trace()
    let listeningLater = later.listen(cities.order(by: "n").first(1))
    try await later.wait(forLast: "[SF {n:1}] from cache")
    try await cities.document("SF").set(["n": 5])
    try await later.wait(forLast: "[LA {n:4}] from cache")
    try await heard.wait(forLast: "[LA {n:4} SF {n:5}] from cache pending")
    await #expect(throws: DocumentsError.self) { try await cities.get(from: .server) }
    await #expect(throws: DocumentsError.self) { try await cities.count() }
    await #expect(throws: (any Error).self) {
      try await db.transaction { try await $0.get(cities.document("SF")).row }
    }
    await db.goOffline()
    #expect(traffic.withLock { $0 } == 0)

    await db.goOnline()
    try await heard.wait(forLast: "[LA {n:4} SF {n:5}]")
    #expect(traffic.withLock { $0 } > 0)
    for task in [listening, listeningLater] { task.cancel() }
    try await house.close()
  }

  @Test(
    "F38 writes made while the network is disabled are kept, over a restart, and sent in order",
    arguments: Setting.all)
  func queued(setting: Setting) async throws {
    let house = try await DocumentHouse(setting)
    var db = try await house.open("a")
    #expect(try await db.collection("log").get().count == 0)
    await db.goOffline()
    func write(_ numbers: ClosedRange<Int64>) async throws {
      for number in numbers {
        try await db.collection("log").document("\(number)").set(["n": .value(.integer(number))])
        try await db.document("total/1").set(
          ["n": .transform(.increment(.integer(1))), "last": .value(.integer(number))],
          merging: true)
      }
    }
    try await write(1...5)
    #expect(try await house.serverRows("log") == [])
    // The switch is not kept over a restart; a cut cable is.
    try house.unplug("a")
    db = try await house.restart("a")
    await db.goOffline()
    try house.mend("a")
    #expect(await db.queueStatus.pending.count == 10)
    try await write(6...9)
    #expect(try await db.document("total/1").get().row == "1 {last:9,n:9}")
    #expect(try await house.serverRows("log") == [])
    await db.goOnline()
    try await db.waitForPendingWrites()
    let sent = try await house.inspector().collection("log").get(from: .server).documents
    let inOrder = sent.sorted { ($0.version ?? .none) < ($1.version ?? .none) }
    #expect(inOrder.map(\.id) == (1...9).map { "\($0)" })
    #expect(try await house.serverRows("total") == ["1 {last:9,n:9}"])
    try await house.close()
  }
}
