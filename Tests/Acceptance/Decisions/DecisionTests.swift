import Foundation
import TernFirebaseCompat
import Testing

@Suite struct DecisionTests {
  @Test(
    "D04 purgeOutstandingWrites empties the queue and reports what it dropped",
    arguments: Setting.all)
  func purge(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    try await db.reference(withPath: "x").setValue(0)
    let values = Trace()
    values.observe(.value, of: db.reference(withPath: "x"))
    try await values.wait(for: "value 0")
    house.unplug("a")
    let heard = Trace()
    now {
      db.reference(withPath: "x").setValue(1) { error, _ in
        heard.add(error.flatMap { DatabaseError($0) }?.code ?? "none")
      }
    }
    try await values.wait(for: "value 1")
    db.purgeOutstandingWrites()
    #expect(try await heard.wait(for: 1) == ["write_canceled"])
    #expect(try await values.wait(for: 3) == ["value 0", "value 1", "value 0"])
    house.plug("a")
    try await db.reference(withPath: "fence").setValue(1)
    #expect(try await house.serverValue("x") == "0")
    try await house.close()
  }

  @Test("D08 priorities order children and move them", arguments: Setting.all)
  func priorities(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    let ref = db.reference(withPath: "pr")
    try await ref.child("a").setValue(1, andPriority: 10)
    try await ref.child("b").setValue(2, andPriority: 5)
    try await ref.child("c").setValue(3)
    let heard = Trace()
    heard.observeAll(ref)
    #expect(
      try await heard.wait(for: 4) == [
        "added c 3", "added b 2", "added a 1", "value {a:1,b:2,c:3}",
      ])
    try await ref.child("a").setPriority(0)
    #expect(
      try await heard.wait(for: 7).suffix(3) == ["moved a 1", "changed a 1", "value {a:1,b:2,c:3}"])
    try await house.close()
  }
}
