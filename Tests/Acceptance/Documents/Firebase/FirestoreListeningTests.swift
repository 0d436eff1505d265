import Foundation
import TernFirebaseCompat
import Testing

@Suite struct ListeningTests {
  @Test(
    "F22 F23 the printed listener hears what is added, with its source",
    arguments: Setting.all)
  func printed(setting: Setting) async throws {
    let house = try await House(setting)
    let writer = try house.firestore("writer")
    let cities = writer.collection("cities")
    try await cities.document("SF").setData(["name": "San Francisco", "state": "CA"])
    try await cities.document("NY").setData(["name": "New York", "state": "NY"])
    let db = try house.firestore("a")
    let heard = Trace()
    let print: @Sendable (String) -> Void = { heard.add($0) }

    db.collection("cities").whereField("state", isEqualTo: "CA")
      .addSnapshotListener(includeMetadataChanges: true) { querySnapshot, error in
        guard let snapshot = querySnapshot else {
          print("Error retreiving snapshot: \(error!)")
          return
        }

        for diff in snapshot.documentChanges {
          if diff.type == .added {
            print("New city: \(diff.document.data())")
          }
        }

        let source = snapshot.metadata.isFromCache ? "local cache" : "server"
        print("Metadata: Data fetched from \(source)")
      }

    let lines = try await heard.wait(for: "Metadata: Data fetched from server")
    #expect(lines.count { $0.hasPrefix("New city: ") } == 1)
    #expect(lines.contains { $0.contains("San Francisco") })
    try await house.close()
  }
}

@Suite struct FirestoreMetadataTests {
  /// The events of two listeners for a result that is cached and then found unchanged by the
  /// server.
  @Test(
    "F20 F21 only listeners of metadata hear that data is the server's now",
    arguments: Setting.storages)
  func metadata(setting: Setting) async throws {
    let house = try await House(setting)
    let writer = try house.firestore("writer")
    try await writer.document("cities/SF").setData(["state": "CA"])
    let first = try house.firestore("a")
    _ = try await first.collection("cities").getDocuments(source: .server)
    try house.desk("a").cable.unplug()
    let db = try await house.restartFirestore("a")
    let (plain, full) = (Trace(), Trace())
    let line: @Sendable (QuerySnapshot?) -> String = { snapshot in
      let ids = snapshot?.documentChanges.map(\.document.documentID) ?? []
      return "\(snapshot?.metadata.isFromCache ?? true ? "cache" : "server") \(ids)"
    }
    db.collection("cities").addSnapshotListener { snapshot, _ in plain.add(line(snapshot)) }
    db.collection("cities").addSnapshotListener(includeMetadataChanges: true) { snapshot, _ in
      full.add(line(snapshot))
    }
    try await plain.wait(for: 1)
    try await full.wait(for: 1)
    try house.desk("a").cable.plug()
    try await db.disableNetwork()
    try await db.enableNetwork()
    try await full.wait(for: "server []")
    #expect(full.entries == ["cache [\"SF\"]", "server []"])
    // What comes next shows that nothing came in between.
    try await writer.document("cities/LA").setData(["state": "CA"])
    try await plain.wait(for: 2)
    #expect(plain.entries == ["cache [\"SF\"]", "server [\"LA\"]"])
    try await house.close()
  }

  @Test(
    "F23 a removed listener hears nothing more, and an error comes without a snapshot",
    arguments: Setting.storages)
  func removal(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try house.firestore("a")
    let (one, other, failed) = (Trace(), Trace(), Trace())
    let sf = db.document("cities/SF")
    let registration = sf.addSnapshotListener { snapshot, _ in
      one.add("\(snapshot?.data()?["n"] as? Int ?? 0)")
    }
    sf.addSnapshotListener { snapshot, _ in other.add("\(snapshot?.data()?["n"] as? Int ?? 0)") }
    try await sf.setData(["n": 1])
    try await one.wait(for: "1")
    registration.remove()
    let before = one.entries
    try await sf.setData(["n": 2])
    try await other.wait(for: "2")
    #expect(one.entries == before)
    db.collection("cities").limit(toLast: 2).addSnapshotListener { snapshot, error in
      let code = error.flatMap { FirestoreErrorCode($0)?.code }
      failed.add(snapshot == nil && code == .invalidArgument ? "refused" : "wrong")
    }
    #expect(try await failed.wait(for: 1) == ["refused"])
    try await house.close()
  }

  @Test(
    "changes come with the indices that lead from one result to the next",
    arguments: Setting.storages)
  func indices(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try house.firestore("a")
    let heard = Trace()
    let cities = db.collection("cities")
    try await cities.document("B").setData(["n": 2])
    try await cities.document("C").setData(["n": 3])
    cities.order(by: "n").addSnapshotListener { snapshot, _ in
      for change in snapshot?.documentChanges ?? [] {
        let (old, new) = (change.oldIndex, change.newIndex)
        let text = [old, new].map { $0 == UInt(NSNotFound) ? "-" : "\($0)" }
        heard.add("\(change.type) \(change.document.documentID) \(text.joined(separator: ">"))")
      }
    }
    try await heard.wait(for: 2)
    try await cities.document("A").setData(["n": 1])
    try await cities.document("A").updateData(["n": 9])
    try await cities.document("B").delete()
    #expect(
      try await heard.wait(for: 5) == [
        "added B ->0", "added C ->1", "added A ->0", "modified A 0>2", "removed B 0>-",
      ])
    try await house.close()
  }

  @Test(
    "a listener of the cache asks no server; snapshots in sync are reported",
    arguments: Setting.storages)
  func cacheOnly(setting: Setting) async throws {
    let house = try await House(setting)
    let writer = try house.firestore("writer")
    try await writer.document("cities/SF").setData(["n": 1])
    let db = try house.firestore("a")
    let (heard, sync) = (Trace(), Trace())
    db.addSnapshotsInSyncListener { sync.add("sync") }
    try await sync.wait(for: 1)
    db.collection("cities").addSnapshotListener(
      options: SnapshotListenOptions().withSource(.cache)
    ) { snapshot, _ in heard.add("\(snapshot?.documents.map(\.documentID) ?? [])") }
    #expect(try await heard.wait(for: 1) == ["[]"])
    _ = try await db.document("cities/SF").getDocument(source: .server)
    #expect(try await heard.wait(for: 2) == ["[]", "[\"SF\"]"])
    try await sync.wait(for: 2)
    try await house.close()
  }
}
