import Foundation
import TernFirebaseCompat
import Testing

@Suite struct OfflineTests {
  @Test("R01 a flapping network loses no write and repeats none", arguments: Setting.all)
  func flapping(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    let counter = db.reference(withPath: "counter")
    let done = Trace()
    for round in 1...20 {
      if round.isMultiple(of: 3) { house.unplug("a") }
      now {
        counter.setValue(ServerValue.increment(1)) { error, _ in
          done.add(error.map { "\($0)" } ?? "ok")
        }
      }
      if round.isMultiple(of: 4) { house.plug("a") }
    }
    house.plug("a")
    try await done.wait(for: 20)
    #expect(done.entries.allSatisfy { $0 == "ok" })
    #expect(try await house.serverValue("counter") == "20")
    try await house.close()
  }

  @Test("R02 a crashed client that starts offline shows the same tree", arguments: Setting.all)
  func restartOffline(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    try await db.reference(withPath: "list").setValue(["x": 1, "y": 2])
    let heard = Trace()
    heard.observe(.value, of: db.reference(withPath: "list"))
    try await heard.wait(for: "value {x:1,y:2}")
    try await db.waitUntilSynced("list")
    house.unplug("a")
    let again = try await house.restart("a")
    let after = Trace()
    after.observe(.value, of: again.reference(withPath: "list"))
    #expect(try await after.wait(for: 1) == ["value {x:1,y:2}"])
    try await house.close()
  }

  @Test(
    "R04 everything that was synchronised is there after a restart", arguments: Setting.storages)
  func wholeCacheSurvives(setting: Setting) async throws {
    let house = try await House(setting)
    let writer = try await house.open("w")
    for place in ["one", "two", "three"] {
      try await writer.reference(withPath: place).setValue(["at": place])
    }
    let db = try await house.open("a")
    let heard = Trace()
    for place in ["one", "two", "three"] {
      heard.observe(.value, of: db.reference(withPath: place), as: place)
    }
    try await heard.wait(for: 3)
    for place in ["one", "two", "three"] { try await db.waitUntilSynced(place) }
    house.unplug("a")
    let again = try await house.restart("a")
    let after = Trace()
    for place in ["one", "two", "three"] {
      after.observe(.value, of: again.reference(withPath: place), as: place)
    }
    #expect(
      Set(try await after.wait(for: 3)) == [
        "one: value {at:one}", "two: value {at:two}", "three: value {at:three}",
      ])
    try await house.close()
  }

  @Test("R05 listeners hear local updates while offline", arguments: Setting.all)
  func localUpdatesOffline(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    house.unplug("a")
    let heard = Trace()
    let ref = db.reference(withPath: "note")
    heard.observe(.value, of: ref)
    now { ref.setValue("draft") }
    #expect(try await heard.wait(for: 1) == ["value draft"])
    now { ref.setValue("final") }
    #expect(try await heard.wait(for: 2) == ["value draft", "value final"])
    try await house.close()
  }

  @Test(
    "R06 R08 offline writes queue up and are sent on reconnect, in order", arguments: Setting.all)
  func queued(setting: Setting) async throws {
    let house = try await House(setting)
    let watcher = try await house.open("b")
    let heard = Trace()
    heard.observe(.childAdded, of: watcher.reference(withPath: "log"))
    let db = try await house.open("a")
    house.unplug("a")
    for number in 1...10 {
      now { db.reference(withPath: "log/\(number)").setValue(number) }
    }
    await house.settle(db)
    #expect(heard.entries.isEmpty)
    house.plug("a")
    #expect(try await heard.wait(for: 10) == (1...10).map { "added \($0) \($0)" })
    try await house.close()
  }

  @Test("R07 the queue is on disk: each write arrives once, in order", arguments: Setting.all)
  func queueSurvives(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    house.unplug("a")
    for number in 1...10 {
      try await db.write(number, to: "log/\(number)")
      try await db.write(ServerValue.increment(1), to: "count")
    }
    let again = try await house.restart("a")
    let heard = Trace()
    let watcher = try await house.open("b")
    heard.observe(.childAdded, of: watcher.reference(withPath: "log"))
    house.plug("a")
    #expect(try await heard.wait(for: 10) == (1...10).map { "added \($0) \($0)" })
    try await again.waitForPendingWrites()
    #expect(try await house.serverValue("count") == "10")
    try await house.close()
  }

  @Test("R11 R17 what a listener or a query received is stored", arguments: Setting.storages)
  func stored(setting: Setting) async throws {
    let house = try await House(setting)
    let writer = try await house.open("w")
    try await writer.reference(withPath: "scores").setValue(["a": 1, "b": 3, "c": 2])
    let db = try await house.open("a")
    let query = db.reference(withPath: "scores").queryOrderedByValue().queryLimited(toLast: 2)
    let heard = Trace()
    heard.observe(.value, of: query)
    try await heard.wait(for: "value {b:3,c:2}")
    try await db.waitUntilSynced("scores")
    house.unplug("a")
    let again = try await house.restart("a")
    let after = Trace()
    after.observe(
      .value, of: again.reference(withPath: "scores").queryOrderedByValue().queryLimited(toLast: 2))
    #expect(try await after.wait(for: 1) == ["value {b:3,c:2}"])
    try await house.close()
  }

  @Test(
    "R18 an offline query over loaded data completes when the network returns",
    arguments: Setting.all)
  func offlineQuery(setting: Setting) async throws {
    let house = try await House(setting)
    let writer = try await house.open("w")
    try await writer.reference(withPath: "scores").setValue(["a": 1, "b": 2, "c": 3])
    let db = try await house.open("a")
    let heard = Trace()
    heard.observe(
      .value, of: db.reference(withPath: "scores").queryOrderedByKey().queryEqual(toValue: "b"))
    try await heard.wait(for: "value {b:2}")
    house.unplug("a")
    let later = Trace()
    later.observeAll(
      db.reference(withPath: "scores").queryOrderedByKey().queryStarting(atValue: "b"))
    #expect(try await later.wait(for: 1) == ["added b 2"])
    house.plug("a")
    #expect(try await later.wait(for: 3) == ["added b 2", "added c 3", "value {b:2,c:3}"])
    try await house.close()
  }
}
