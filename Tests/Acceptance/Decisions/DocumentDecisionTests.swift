import Foundation
import TernClient
import TernCore
import TernDocumentReplica
import TernFirebaseCompat
import TernQuery
import TernSync
import Testing

@Suite struct DocumentDecisionTests {
  @Test(
    "D06 waitForPendingWrites waits for what is pending when it is called", arguments: Setting.all)
  func waiting(setting: Setting) async throws {
    let house = try await DocumentHouse(setting)
    let db = try await house.open("a")
    try await db.waitForPendingWrites()
    await db.goOffline()
    try await db.document("a/1").set(["n": 1])
    let done = Trace()
    let waiting = Task {
      try await db.waitForPendingWrites()
      done.add("done")
    }
    try await db.document("a/1").update(["n": 2])
    #expect(done.entries.isEmpty)
    await db.goOnline()
    try await done.wait(for: "done")
    try await waiting.value
    #expect(try await house.serverRows("a").count == 1)
    try await house.close()
  }

  @Test(
    "D06 clearPersistence is refused in use, and then forgets data and queue",
    arguments: Setting.all)
  func clearing(setting: Setting) async throws {
    let house = try await DocumentHouse(setting)
    try await house.seed("cities", ["SF": 1])
    let db = try await house.open("a")
    _ = try await db.collection("cities").get()
    await db.goOffline()
    try await db.document("cities/LA").set(["n": 4])
    await #expect(throws: DocumentsError.self) { try await db.clearPersistence() }
    #expect(try await db.collection("cities").get().count == 2)
    await db.terminate()
    try await db.clearPersistence()
    try house.unplug("a")
    let again = try await house.restart("a")
    #expect(try await again.collection("cities").get().words == "[] from cache")
    #expect(await again.queueStatus.pending.isEmpty)
    try house.mend("a")
    try await again.document("cities/NY").set(["n": 8]).acknowledged()
    #expect(try await house.serverRows("cities") == ["NY {n:8}", "SF {n:1}"])
    try await house.close()
  }

  @Test("D06 terminate ends everything and keeps what is queued", arguments: Setting.all)
  func terminating(setting: Setting) async throws {
    let house = try await DocumentHouse(setting)
    let db = try await house.open("a", online: false)
    let heard = Trace()
    let listening = heard.listen(db.collection("a"))
    let write = try await db.document("a/1").set(["n": 1])
    try await heard.wait(forLast: "[1 {n:1}] from cache pending")
    await db.terminate()
    try await heard.wait(forLast: "\(DocumentsError.closed)")
    await #expect(throws: DocumentsError.closed) { try await write.acknowledged() }
    await #expect(throws: DocumentsError.closed) { try await db.document("a/2").set(["n": 2]) }
    await #expect(throws: DocumentsError.self) { try await db.document("a/1").get(from: .cache) }
    await listening.value
    let again = try await house.restart("a")
    try house.mend("a")
    try await again.waitForPendingWrites()
    #expect(try await house.serverRows("a") == ["1 {n:1}"])
    try await house.close()
  }

  @Test("D06 all listeners have heard the same when snapshots are in sync", arguments: Setting.all)
  func inSync(setting: Setting) async throws {
    let house = try await House(setting)
    // Its callbacks come on one queue, in the order in which they happen.
    let firestore = try house.firestore("a", online: false)
    let heard = Trace()
    let collection = firestore.collection("a")
    let first = collection.addSnapshotListener { snapshot, _ in
      heard.add("one \(snapshot?.count ?? -1)")
    }
    let second = collection.order(by: "n").addSnapshotListener { snapshot, _ in
      heard.add("two \(snapshot?.count ?? -1)")
    }
    try await heard.wait { $0.contains("one 0") && $0.contains("two 0") }
    let signals = firestore.addSnapshotsInSyncListener { heard.add("in sync") }
    for number in 1...20 {
      now { firestore.document("a/\(number)").setData(["n": number]) }
      try await heard.wait { entries in
        guard let last = entries.lastIndex(of: "one \(number)") else { return false }
        return entries[last...].contains("in sync") && entries.contains("two \(number)")
      }
    }
    var counts = ["one": 0, "two": 0]
    for entry in heard.entries {
      let words = entry.split(separator: " ")
      if entry == "in sync" {
        #expect(counts["one"] == counts["two"], "\(heard.entries)")
      } else {
        counts[String(words[0])] = Int(words[1]) ?? -1
      }
    }
    #expect(counts == ["one": 20, "two": 20])
    for listener in [first, second, signals] { listener.remove() }
    try await house.close()
  }

  @Test("D06 a listener of the cache asks no server", arguments: Setting.all)
  func cacheListener(setting: Setting) async throws {
    let house = try await DocumentHouse(setting)
    try await house.seed("cities", ["LA": 4, "SF": 1])
    let sent = Trace()
    let db = try await house.open("a", tapped: { _ in sent.add("traffic") })
    let heard = Trace()
    let listening = heard.listen(db.collection("cities"), source: .cache)
    try await heard.wait(forLast: "[] from cache")
    #expect(sent.entries.isEmpty)
    // What another listener brings is heard here, too.
    let live = Trace()
    let listeningLive = live.listen(db.collection("cities"))
    try await live.wait(forLast: "[LA {n:4} SF {n:1}]")
    try await heard.wait { $0.last?.hasPrefix("[LA {n:4} SF {n:1}]") ?? false }
    for task in [listening, listeningLive] { task.cancel() }
    try await house.close()
  }

  @Test(
    "D07 an awaited write is durable on the device, and a second await is for the server",
    arguments: Setting.all)
  func twoStages(setting: Setting) async throws {
    let house = try await DocumentHouse(setting)
    var db = try await house.open("a", online: false)
    let first = try await db.document("a/1").set(["n": 1])
    let tree = try await house.tern("a").tree["n"].set(1)
    await house.house.killServer()
    try await house.house.startServer()
    db = try await house.restart("a")
    #expect(try await db.document("a/1").get().row == "1 {n:1}")
    // A caller that waited before the restart learns that the writes go on without it.
    await #expect(throws: DocumentsError.closed) { try await first.acknowledged() }
    await #expect(throws: AcknowledgementError.closed) { try await tree.acknowledged() }
    let done = Trace()
    let second = try await db.document("a/2").set(["n": 2])
    let secondTree = try await house.tern("a").tree["m"].set(2)
    let waiting = Task {
      try await second.acknowledged()
      try await secondTree.acknowledged()
      done.add("acknowledged")
    }
    #expect(try await db.collection("a").get().rows == ["1 {n:1}", "2 {n:2}"])
    #expect(done.entries.isEmpty)
    try await house.plug("a")
    await (try house.tern("a")).tree.goOnline()
    try await done.wait(for: "acknowledged")
    try await waiting.value
    #expect(try await house.serverRows("a") == ["1 {n:1}", "2 {n:2}"])
    try await house.close()
  }

  @Test("D07 the Firebase-shaped await waits for the server", arguments: Setting.transports)
  func firebaseShaped(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a", online: false)
    let heard = Trace()
    let done = Trace()
    heard.observe(.value, of: db.reference(withPath: "n"))
    let writing = Task {
      try await db.reference(withPath: "n").setValue(1)
      done.add("written")
    }
    try await heard.wait(for: "value 1")
    try await db.waitUntilDurable()
    #expect(done.entries.isEmpty)
    house.plug("a")
    try await done.wait(for: "written")
    try await writing.value
    #expect(try await house.serverValue("n") == "1")
    try await house.close()
  }
}
