import Foundation
import TernFirebaseCompat
import Testing

@Suite struct DisconnectTests {
  @Test(
    "R25 deferred writes fire on a clean goodbye, a cut cable and a crash",
    arguments: Setting.all)
  func everyWayOut(setting: Setting) async throws {
    let house = try await House(setting)
    let watcher = try await house.open("w")
    let heard = Trace()
    heard.observe(.value, of: watcher.reference(withPath: "seen"))
    try await heard.wait(for: "value null")
    for (name, leave) in House.waysOut {
      let db = try await house.open(name)
      try await db.reference(withPath: "seen").onDisconnectSetValue(name)
      try await leave(house, name)
      try await heard.wait(for: "value \(name)")
    }
    try await house.close()
  }

  @Test(
    "R26 set, set with priority, update and remove are all available on disconnect",
    arguments: Setting.all)
  func everyOperation(setting: Setting) async throws {
    let house = try await House(setting)
    let writer = try await house.open("w")
    let top = writer.reference(withPath: "p")
    try await top.setValue(["set": 0, "ranked": 0, "up": ["a": 1, "b": 1], "gone": 1])
    let db = try await house.open("a")
    let mine = db.reference(withPath: "p")
    try await mine.child("set").onDisconnectSetValue(1)
    try await mine.child("ranked").onDisconnectSetValue(1, andPriority: 7)
    try await mine.child("up").onDisconnectUpdateChildValues(["b": 2, "c": 3])
    try await mine.child("gone").onDisconnectRemoveValue()
    let heard = Trace()
    heard.observe(.value, of: top)
    db.goOffline()
    try await heard.wait(for: "value {ranked:1,set:1,up:{a:1,b:2,c:3}}")
    let ranked = try await top.child("ranked").getData()
    #expect(ranked.priority as? Int == 7)
    try await house.close()
  }

  @Test("R27 the printed one-line form", arguments: Setting.transports)
  func oneLine(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    let presenceRef = db.reference(withPath: "disconnectmessage")
    // Write a string when this client loses connection
    now { presenceRef.onDisconnectSetValue("I disconnected!") }
    try await db.reference(withPath: "fence").setValue(1)
    db.goOffline()
    let watcher = try await house.open("w")
    let heard = Trace()
    heard.observe(.value, of: watcher.reference(withPath: "disconnectmessage"))
    try await heard.wait(for: "value I disconnected!")
    try await house.close()
  }

  @Test(
    "R28 D02 a deferred write lives on the server, and survives the server's restart",
    arguments: Setting.all)
  func livesOnServer(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    try await db.reference(withPath: "state").setValue("here")
    try await db.reference(withPath: "state").onDisconnectSetValue("gone")
    house.unplug("a", noticed: false)
    await house.killServer()
    try await house.startServer()
    let watcher = try await house.open("w")
    let heard = Trace()
    heard.observe(.value, of: watcher.reference(withPath: "state"))
    house.passGrace()
    try await heard.wait(for: "value gone")
    try await house.close()
  }

  @Test(
    "R29 a deferred write that the rules forbid is refused when it is established",
    arguments: Setting.all)
  func refusedAtOnce(setting: Setting) async throws {
    let house = try await House(setting)
    try await house.judge(
      by: #"{"rules": {".read": true, "open": {".write": true}, "fence": {".write": true}}}"#)
    let db = try await house.open("a")
    let heard = Trace()
    for place in ["shut", "open"] {
      now {
        db.reference(withPath: place).onDisconnectSetValue("gone") { error, reference in
          heard.add("\(reference.key ?? "") \(error.map { "\($0)" } ?? "attached")")
        }
      }
    }
    let told = try await heard.wait(for: 2)
    #expect(told.first?.contains("Permission denied") == true, "\(told)")
    #expect(told.last == "open attached")
    // What was refused is not there to be allowed later.
    try await house.judge(by: #"{"rules": {".read": true, ".write": true}}"#)
    db.goOffline()
    let watcher = try await house.open("w")
    let seen = Trace()
    seen.observe(.value, of: watcher.reference(withPath: "open"))
    try await seen.wait(for: "value gone")
    #expect(try await house.serverValue("shut") == "null")
    try await house.close()
  }

  @Test(
    "R31 a deferred write is judged a second time when it fires", arguments: Setting.all)
  func judgedTwice(setting: Setting) async throws {
    let house = try await House(setting)
    try await house.judge(by: #"{"rules": {".read": true, ".write": true}}"#)
    let db = try await house.open("a")
    try await db.reference(withPath: "shut").onDisconnectSetValue("gone")
    try await db.reference(withPath: "open").onDisconnectSetValue("gone")
    try await house.judge(by: #"{"rules": {".read": true, "open": {".write": true}}}"#)
    db.goOffline()
    let watcher = try await house.open("w")
    let seen = Trace()
    seen.observe(.value, of: watcher.reference(withPath: "open"))
    try await seen.wait(for: "value gone")
    #expect(try await house.serverValue("shut") == "null")
    try await house.close()
  }

  @Test("R30 the server fires on an active close and on silence", arguments: Setting.transports)
  func closeAndSilence(setting: Setting) async throws {
    let house = try await House(setting)
    let watcher = try await house.open("w")
    let heard = Trace()
    heard.observe(.value, of: watcher.reference(withPath: "state"))
    let closing = try await house.open("closing")
    try await closing.reference(withPath: "state").onDisconnectSetValue("closed")
    closing.goOffline()
    try await heard.wait(for: "value closed")
    let silent = try await house.open("silent")
    try await silent.reference(withPath: "state").onDisconnectSetValue("silent")
    house.silence("silent")
    house.passSilenceBound()
    try await heard.wait(for: "value silent")
    try await house.close()
  }

  @Test(
    "R32 a callback confirms that the deferred remove is attached", arguments: Setting.transports)
  func callback(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    let presenceRef = db.reference(withPath: "presence")
    let heard = Trace()
    now {
      presenceRef.onDisconnectRemoveValue { error, reference in
        if let error = error {
          heard.add("Could not establish onDisconnect event: \(error)")
        } else {
          heard.add("attached \(reference.key ?? "")")
        }
      }
    }
    #expect(try await heard.wait(for: 1) == ["attached presence"])
    try await house.close()
  }

  @Test("R33 a cancelled deferred write does not fire", arguments: Setting.all)
  func cancelled(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    let presenceRef = db.reference(withPath: "disconnectmessage")
    now { presenceRef.onDisconnectSetValue("I disconnected") }
    // some time later when we change our minds
    try await presenceRef.cancelDisconnectOperations()
    try await db.reference(withPath: "fence").onDisconnectSetValue("passed")
    db.goOffline()
    let watcher = try await house.open("w")
    let heard = Trace()
    heard.observe(.value, of: watcher.reference(withPath: "fence"))
    try await heard.wait(for: "value passed")
    #expect(try await house.serverValue("disconnectmessage") == "null")
    try await house.close()
  }
}
