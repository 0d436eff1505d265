import Foundation
import TernFirebaseCompat
import Testing

/// The worked example of the offline guide: four scores online, then two, then six, offline.
@Suite struct DinosaurTests {
  private static let scores = [
    "bruhathkayosaurus": 55, "lambeosaurus": 21, "linhenykus": 80, "pterodactyl": 93,
    "stegosaurus": 5, "triceratops": 22,
  ]

  private func last(_ count: UInt, of db: Database) -> DatabaseQuery {
    db.reference(withPath: "scores").queryOrderedByValue().queryLimited(toLast: count)
  }

  private func houseWithScores(_ setting: Setting) async throws -> House {
    let house = try await House(setting)
    let writer = try await house.open("w")
    try await writer.reference(withPath: "scores").setValue(Self.scores)
    return house
  }

  @Test("R19 the last four by value, as children", arguments: Setting.all)
  func lastFour(setting: Setting) async throws {
    let house = try await houseWithScores(setting)
    let db = try await house.open("a")
    let heard = Trace()
    let scoresRef = db.reference(withPath: "scores")
    scoresRef.queryOrderedByValue().queryLimited(toLast: 4).observe(.childAdded) { snapshot in
      heard.add("The \(snapshot.key) dinosaur's score is \(snapshot.value ?? "null")")
    }
    #expect(
      try await heard.wait(for: 4) == [
        "The triceratops dinosaur's score is 22", "The bruhathkayosaurus dinosaur's score is 55",
        "The linhenykus dinosaur's score is 80", "The pterodactyl dinosaur's score is 93",
      ])
    try await house.close()
  }

  @Test(
    "R20 R21 offline after a restart, the last two come as children and no value",
    arguments: Setting.all)
  func lastTwoOffline(setting: Setting) async throws {
    let house = try await houseWithScores(setting)
    let db = try await house.open("a")
    let online = Trace()
    online.observe(.value, of: last(4, of: db))
    try await online.wait(for: 1)
    try await db.waitUntilSynced("scores")
    house.unplug("a")
    let again = try await house.restart("a")
    let heard = Trace()
    heard.observeAll(last(2, of: again))
    try await heard.wait(for: 2)
    await house.settle(again)
    #expect(heard.entries == ["added linhenykus 80", "added pterodactyl 93"])
    try await house.close()
  }

  @Test(
    "R22 R23 offline, the last six give four children; the rest and the value come online",
    arguments: Setting.all)
  func lastSixOffline(setting: Setting) async throws {
    let house = try await houseWithScores(setting)
    let db = try await house.open("a")
    let online = Trace()
    online.observe(.value, of: last(4, of: db))
    try await online.wait(for: 1)
    try await db.waitUntilSynced("scores")
    house.unplug("a")
    let again = try await house.restart("a")
    let heard = Trace()
    heard.observeAll(last(6, of: again))
    try await heard.wait(for: 4)
    await house.settle(again)
    let cached = [
      "added triceratops 22", "added bruhathkayosaurus 55", "added linhenykus 80",
      "added pterodactyl 93",
    ]
    #expect(heard.entries == cached)
    house.plug("a")
    let all = try await heard.wait(for: 7)
    #expect(
      all == cached + [
        "added stegosaurus 5", "added lambeosaurus 21",
        "value {bruhathkayosaurus:55,lambeosaurus:21,linhenykus:80,pterodactyl:93,"
          + "stegosaurus:5,triceratops:22}",
      ])
    try await house.close()
  }
}
