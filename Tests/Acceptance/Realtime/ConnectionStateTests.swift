import Foundation
import Synchronization
import TernFirebaseCompat
import Testing

@Suite struct ConnectionStateTests {
  @Test("R34 D03 .info/connected follows every change of the connection", arguments: Setting.all)
  func connected(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a", online: false)
    let heard = Trace()
    let connectedRef = db.reference(withPath: ".info/connected")
    connectedRef.observe(
      .value,
      with: { snapshot in
        if snapshot.value as? Bool ?? false {
          heard.add("Connected")
        } else {
          heard.add("Not connected")
        }
      })
    try await heard.wait(for: 1)
    house.plug("a")
    try await heard.wait(for: 2)
    db.goOffline()
    try await heard.wait(for: 3)
    db.goOnline()
    try await heard.wait(for: 4)
    #expect(heard.entries == ["Not connected", "Connected", "Not connected", "Connected"])
    try await house.close()
  }

  @Test("R35 .info/connected belongs to one client", arguments: Setting.transports)
  func perClient(setting: Setting) async throws {
    let house = try await House(setting)
    let one = try await house.open("a")
    let two = try await house.open("b")
    let (first, second) = (Trace(), Trace())
    first.observe(.value, of: one.reference(withPath: ".info/connected"))
    second.observe(.value, of: two.reference(withPath: ".info/connected"))
    try await first.wait(for: "value 1")
    try await second.wait(for: "value 1")
    one.goOffline()
    try await first.wait { $0.last == "value 0" }
    await house.settle(two)
    #expect(second.entries.last == "value 1")
    try await house.close()
  }

  @Test("R36 a server timestamp is the server's milliseconds since 1970", arguments: Setting.all)
  func timestamp(setting: Setting) async throws {
    let house = try await House(setting, serverTime: 1_760_000_000_123)
    let db = try await house.open("a")
    try await db.reference(withPath: "at").setValue(ServerValue.timestamp())
    let snapshot = try await db.reference(withPath: "at").getData()
    #expect(snapshot.value as? Int == 1_760_000_000_123)
    try await house.close()
  }

  @Test(
    "R37 a timestamp on disconnect records when a user was last online",
    arguments: Setting.transports)
  func lastOnline(setting: Setting) async throws {
    let house = try await House(setting, serverTime: 1_760_000_000_123)
    let db = try await house.open("a")
    let userLastOnlineRef = db.reference(withPath: "users/morgan/lastOnline")
    try await userLastOnlineRef.onDisconnectSetValue(ServerValue.timestamp())
    db.goOffline()
    let watcher = try await house.open("w")
    let heard = Trace()
    heard.observe(.value, of: watcher.reference(withPath: "users/morgan/lastOnline"))
    try await heard.wait(for: "value 1760000000123")
    try await house.close()
  }

  @Test(
    "R38 the offset estimates server time under a clock that is an hour off",
    arguments: Setting.transports)
  func offset(setting: Setting) async throws {
    for skew in [-3_600_000, 3_600_000] as [Int64] {
      let server: Int64 = 1_760_000_000_000
      let house = try await House(setting, serverTime: server, clientTime: server + skew)
      let db = try await house.open("a")
      let estimates = Trace()
      let offsetRef = db.reference(withPath: ".info/serverTimeOffset")
      offsetRef.observe(
        .value,
        with: { snapshot in
          if let offset = snapshot.value as? TimeInterval {
            estimates.add("\(Int64(Double(server + skew) + offset))")
          }
        })
      try await estimates.wait(for: "\(server)")
      try await house.close()
    }
  }

  @Test("R38 R39 the estimate is off by at most half a round trip; a server timestamp by nothing")
  func latency() async throws {
    let server: Int64 = 1_760_000_000_000
    let setting = Setting(storage: "memory", transport: "loopback")
    // Milliseconds on the way to the server, and back.
    for (there, back) in [(0, 0), (900, 100), (100, 900), (500, 500), (0, 3_000)]
      as [(Int64, Int64)]
    {
      let skew: Int64 = 3_600_000
      let clock = Mutex(server)
      let house = try await House(
        setting, serverClock: { clock.withLock { $0 } },
        clientClock: { clock.withLock { $0 } + skew })
      let passed = Mutex((sent: false, received: false))
      let db = try await house.open("a", online: false) { event in
        // Only what opens the session is slow.
        switch event {
        case .sent where !passed.withLock({ exchange(&$0.sent, with: true) }):
          clock.withLock { $0 += there }
        case .received where !passed.withLock({ exchange(&$0.received, with: true) }):
          clock.withLock { $0 += back }
        default: break
        }
      }
      let offsets = Trace()
      db.reference(withPath: ".info/serverTimeOffset").observe(.value) { snapshot in
        if let offset = snapshot.value as? Double, offset != 0 { offsets.add("\(Int64(offset))") }
      }
      house.plug("a")
      try await offsets.wait(for: 1)
      let offset = try #require(offsets.entries.last.flatMap { Int64($0) })
      // The client's clock is ahead by the skew.
      let error = offset + skew
      #expect(abs(error) <= (there + back + 1) / 2, "\(there) there, \(back) back: \(error)")
      if there != back { #expect(error != 0, "accuracy depends on the latency") }
      try await db.reference(withPath: "at").setValue(ServerValue.timestamp())
      let stored = try await db.reference(withPath: "at").getData().value as? Int64
      #expect(stored == clock.withLock { $0 }, "the server's own time")
      try await house.close()
    }
    let manual = try documentation("FirebaseCompat/Documentation.docc/TernFirebaseCompat.md")
    #expect(manual.contains(".info/serverTimeOffset") && manual.contains("more than a second"))
  }

  @Test("R40 the presence handler runs again on every reconnect", arguments: Setting.transports)
  func recipe(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    let online = db.reference(withPath: "users/ann/online")
    let runs = Trace()
    db.reference(withPath: ".info/connected").observe(
      .value,
      with: { snapshot in
        guard snapshot.value as? Bool ?? false else { return }
        online.onDisconnectSetValue(false)
        online.setValue(true) { _, _ in runs.add("online") }
      })
    let watcher = try await house.open("w")
    let heard = Trace()
    heard.observe(.value, of: watcher.reference(withPath: "users/ann/online"))
    try await heard.wait(for: "value 1")
    for round in 1...2 {
      db.goOffline()
      try await heard.wait { $0.filter { $0 == "value 0" }.count == round }
      db.goOnline()
      try await heard.wait { $0.filter { $0 == "value 1" }.count == round + 1 }
    }
    #expect(try await runs.wait(for: 3).count == 3)
    try await house.close()
  }

  @Test(
    "R41 an announcement behind its disconnect operation leaves no ghost, one before it does",
    arguments: Setting.transports)
  func noGhost(setting: Setting) async throws {
    let house = try await House(setting)
    for isDeferredFirst in [true, false] {
      var ghosts: [Int] = []
      // The first frame opens the session, the next two carry the requests.
      for frames in 1...4 {
        let name = "device\(isDeferredFirst)\(frames)"
        let db = try await house.open(name, online: false)
        house.cutAfter(frames: frames, of: name)
        let online = db.reference(withPath: "online/\(name)")
        now {
          if isDeferredFirst { online.onDisconnectRemoveValue() }
          online.setValue(true)
          if !isDeferredFirst { online.onDisconnectRemoveValue() }
          // What makes the last cut, behind both.
          db.reference(withPath: "fence").setValue(true)
        }
        house.plug(name)
        try await house.waitForCut(name)
        await house.forget(name)
        // The server has read what came before the cut, and ended the session.
        try await house.waitForSessions(0)
        if try await house.serverValue("online/\(name)") != "null" { ghosts.append(frames) }
        await house.forgetInspector()
        try await house.waitForSessions(0)
      }
      #expect(ghosts == (isDeferredFirst ? [] : [2]), "deferred first: \(isDeferredFirst)")
    }
    try await house.close()
  }

  @Test(
    "R42 three devices of one user, each with its own connection", arguments: Setting.transports)
  func severalDevices(setting: Setting) async throws {
    let house = try await House(setting, serverTime: 1_760_000_000_123)
    let watcher = try await house.open("w")
    let heard = Trace()
    watcher.reference(withPath: "users/morgan/connections").observe(.value) { snapshot in
      heard.add("\(snapshot.childrenCount) online")
    }
    var devices: [Database] = []
    for number in 1...3 {
      let db = try await house.open("device\(number)")
      devices.append(db)
      let myConnectionsRef = db.reference(withPath: "users/morgan/connections")
      let lastOnlineRef = db.reference(withPath: "users/morgan/lastOnline")
      db.reference(withPath: ".info/connected").observe(
        .value,
        with: { snapshot in
          guard let connected = snapshot.value as? Bool, connected else { return }
          let con = myConnectionsRef.childByAutoId()
          con.onDisconnectRemoveValue()
          con.setValue(true)
          lastOnlineRef.onDisconnectSetValue(ServerValue.timestamp())
        })
      try await heard.wait(for: "\(number) online")
      try await db.waitForPendingWrites()
      try await db.reference(withPath: "fence\(number)").onDisconnectRemoveValue()
    }
    for db in devices { db.goOffline() }
    try await heard.wait { $0.last == "0 online" }
    let last = Trace()
    last.observe(.value, of: watcher.reference(withPath: "users/morgan/lastOnline"))
    try await last.wait(for: "value 1760000000123")
    try await house.close()
  }
}
