import Foundation
import TernFirebaseCompat
import Testing

/// One session of every kind of write, cut after every few bytes.
@Suite struct ByteCutTests {
  @Test("a connection cut after any byte loses no write and repeats none")
  func everyCut() async throws {
    var (bytes, cuts) = (0, 0)
    while try await runCut(after: bytes) {
      cuts += 1
      bytes += 11
    }
    #expect(cuts > 100)
  }

  /// Plays the session, breaking its connection once after so many bytes.
  ///
  /// - Returns: Whether the session was long enough to be cut there.
  private func runCut(after bytes: Int) async throws -> Bool {
    let house = try await House(Setting(storage: "memory", transport: "loopback"))
    let db = try await house.open("a", online: false)
    let cable = try house.room("a").cable
    cable.cut(afterBytes: bytes)
    // No attempt that is still under way is to fail after the cable is plugged in.
    db.goOffline()
    let ended = Trace()
    play(on: db, ended)
    house.plug("a")
    let healing = Task {
      try await cable.waitForCut()
      db.goOnline()
    }
    try await ended.wait(for: Self.writes)
    healing.cancel()
    #expect(ended.entries.allSatisfy { $0 == "ok" }, "cut after \(bytes): \(ended.entries)")
    let expected = "{a:3,b:{x:1,y:{z:2}},count:6,log:2,taps:2}"
    let found = summary(try await house.inspector().reference().getData())
    #expect(found == expected, "cut after \(bytes) bytes")
    let wasCut = !cable.awaitsCut
    try await house.close()
    return wasCut
  }

  private static let writes = 9

  private func play(on db: Database, _ ended: Trace) {
    let done: ((any Error)?, DatabaseReference) -> Void = { error, _ in
      ended.add(error.map { "\($0)" } ?? "ok")
    }
    let top = db.reference()
    top.child("a").setValue(1, withCompletionBlock: done)
    top.child("b").updateChildValues(["x": 1, "y/z": 2], withCompletionBlock: done)
    for delta in 1...3 {
      top.child("count").setValue(
        ServerValue.increment(NSNumber(value: delta)), withCompletionBlock: done)
    }
    top.child("a").setValue(3, withCompletionBlock: done)
    top.child("log").childByAutoId().setValue("one", withCompletionBlock: done)
    top.child("log").childByAutoId().setValue("two", withCompletionBlock: done)
    tap(top.child("taps"), twice: true, ended)
  }

  /// Adds one in a transaction, and another one behind it.
  private func tap(_ place: DatabaseReference, twice: Bool, _ ended: Trace) {
    place.runTransactionBlock(
      { data in
        data.value = (data.value as? Int ?? 0) + 1
        return .success(withValue: data)
      },
      andCompletionBlock: { error, isCommitted, _ in
        if twice {
          self.tap(place, twice: false, ended)
        } else {
          ended.add(error == nil && isCommitted ? "ok" : "\(String(describing: error))")
        }
      })
  }

  /// The tree as one line, with the log counted instead of spelled.
  private func summary(_ snapshot: DataSnapshot) -> String {
    var members = snapshot.value as? [String: Any] ?? [:]
    members["log"] = snapshot.childSnapshot(forPath: "log").childrenCount
    return Trace.text(members)
  }
}
