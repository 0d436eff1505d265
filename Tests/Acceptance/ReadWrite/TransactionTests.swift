// The calls below are spelled as the guide prints them.
// swift-format-ignore-file: OnlyOneTrailingClosureArgument

import Foundation
import Synchronization
import TernFirebaseCompat
import Testing

@Suite struct TransactionTests {
  /// The update function of the guide: a user stars a post, or takes the star back.
  private func star(_ ref: DatabaseReference, uid: String, heard: Trace) {
    ref.runTransactionBlock({ (currentData: MutableData) -> TransactionResult in
      if var post = currentData.value as? [String: AnyObject] {
        var stars: [String: Bool]
        stars = post["stars"] as? [String: Bool] ?? [:]
        var starCount = post["starCount"] as? Int ?? 0
        if stars[uid] != nil {
          // Unstar the post and remove self from stars
          starCount -= 1
          stars.removeValue(forKey: uid)
        } else {
          // Star the post and add self to stars
          starCount += 1
          stars[uid] = true
        }
        post["starCount"] = starCount as AnyObject?
        post["stars"] = stars as AnyObject?

        // Set value and report transaction success
        currentData.value = post

        return TransactionResult.success(withValue: currentData)
      }
      return TransactionResult.success(withValue: currentData)
    }) { error, committed, snapshot in
      if let error = error {
        print(error.localizedDescription)
      }
      heard.add("\(committed) \(Trace.text(snapshot?.value))")
    }
  }

  @Test("W33 W34 the printed transaction stars and unstars a post", arguments: Setting.all)
  func starring(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    let ref = db.reference(withPath: "posts/p1")
    try await ref.setValue(["title": "T", "starCount": 0])
    let heard = Trace()
    star(ref, uid: "ann", heard: heard)
    #expect(
      try await heard.wait(for: 1) == ["true {starCount:1,stars:{ann:1},title:T}"])
    star(ref, uid: "ann", heard: heard)
    try await heard.wait(for: 2)
    #expect(heard.entries[1] == "true {starCount:0,title:T}")
    try await house.close()
  }

  @Test("W34 an aborted transaction changes nothing", arguments: Setting.storages)
  func abort(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    let ref = db.reference(withPath: "x")
    try await ref.setValue(1)
    let heard = Trace()
    ref.runTransactionBlock({ _ in TransactionResult.abort() }) { error, committed, _ in
      heard.add("\(error == nil) \(committed)")
    }
    #expect(try await heard.wait(for: 1) == ["true false"])
    #expect(try await house.serverValue("x") == "1")
    try await house.close()
  }

  @Test(
    "W35 W36 a cold transaction starts from nil and runs again on the server's value",
    arguments: Setting.all)
  func cold(setting: Setting) async throws {
    let house = try await House(setting)
    let writer = try await house.open("w")
    try await writer.reference(withPath: "ctr").setValue(41)
    let db = try await house.open("a")
    let inputs = Trace()
    let heard = Trace()
    db.reference(withPath: "ctr").runTransactionBlock({ data in
      inputs.add(Trace.text(data.value))
      data.value = (data.value as? Int ?? 0) + 1
      return .success(withValue: data)
    }) { error, committed, snapshot in
      heard.add("\(error == nil) \(committed) \(Trace.text(snapshot?.value))")
    }
    #expect(try await heard.wait(for: 1) == ["true true 42"])
    #expect(inputs.entries.first == "null")
    #expect(inputs.entries.last == "41")
    try await house.close()
  }

  @Test(
    "W37 a transaction that always loses gives up after twenty-five tries",
    arguments: Setting.transports)
  func maxRetry(setting: Setting) async throws {
    let house = try await House(setting)
    let rival = try await house.open("w")
    try await rival.reference(withPath: "x").setValue(0)
    let db = try await house.open("a")
    house.answerConditionalPuts(of: "a", with: "datastale")
    let heard = Trace()
    let runs = Atomic(0)
    db.reference(withPath: "x").runTransactionBlock({ data in
      runs.add(1, ordering: .relaxed)
      data.value = 1
      return .success(withValue: data)
    }) { error, committed, _ in
      heard.add("\(error.flatMap { DatabaseError($0) }?.code ?? "none") \(committed)")
    }
    // Between the last attempts the client rests for seconds, to let others pass.
    #expect(
      try await heard.wait(within: .seconds(900)) { !$0.isEmpty } == ["maxretry false"])
    #expect(house.conditionalPuts(of: "a") == 25)
    try await house.close()
  }

  @Test(
    "W38 fifty clients adding a hundred stars each make five thousand",
    arguments: Setting.transports)
  func contention(setting: Setting) async throws {
    let house = try await House(setting)
    let (clients, each) = (50, 100)
    let heard = Trace()
    @Sendable func star(_ ref: DatabaseReference) {
      ref.runTransactionBlock({ data in
        data.value = (data.value as? Int ?? 0) + 1
        return .success(withValue: data)
      }) { error, committed, _ in
        if committed { return heard.add("done") }
        // A transaction may give up after its last try; a program lets its user try again.
        guard error.flatMap({ DatabaseError($0) })?.code == "maxretry" else {
          return heard.add("failed \(String(describing: error))")
        }
        star(ref)
      }
    }
    for number in 1...clients {
      let db = try await house.open("c\(number)", storage: "memory")
      for _ in 1...each { now { star(db.reference(withPath: "stars")) } }
    }
    try await heard.wait(within: .seconds(1_500)) { entries in
      entries.count == clients * each || entries.contains { $0 != "done" }
    }
    #expect(
      heard.entries.allSatisfy { $0 == "done" }, "\(heard.entries.first { $0 != "done" } ?? "")")
    #expect(try await house.serverValue("stars") == "5000")
    try await house.close()
  }

  @Test("W39 the printed increment inside a multi-path update", arguments: Setting.all)
  func printedIncrement(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    let ref = db.reference()
    let (postID, userID, ownerID) = ("p1", "ann", "ben")
    let updates =
      [
        "posts/\(postID)/stars/\(userID)": true,
        "posts/\(postID)/starCount": ServerValue.increment(1),
        "user-posts/\(ownerID)/\(postID)/stars/\(userID)": true,
        "user-posts/\(ownerID)/\(postID)/starCount": ServerValue.increment(1),
      ] as [String: Any]
    now { ref.updateChildValues(updates) }
    try await db.waitForPendingWrites()
    #expect(try await house.serverValue("posts/p1") == "{starCount:1,stars:{ann:1}}")
    #expect(try await house.serverValue("user-posts/ben/p1") == "{starCount:1,stars:{ann:1}}")
    try await house.close()
  }

  @Test(
    "W40 fifty clients adding a hundred each make five thousand, with cables cut between",
    arguments: Setting.transports)
  func increments(setting: Setting) async throws {
    let house = try await House(setting)
    let (clients, each) = (50, 100)
    var databases: [Database] = []
    for number in 1...clients {
      let db = try await house.open("c\(number)", storage: "memory")
      databases.append(db)
      for _ in 1...each {
        now { db.reference(withPath: "count").setValue(ServerValue.increment(1)) }
      }
      if number.isMultiple(of: 5) { house.flap("c\(number)") }
    }
    for db in databases { try await db.waitForPendingWrites() }
    #expect(try await house.serverValue("count") == "\(clients * each)")
    try await house.close()
  }

  @Test("R24 a transaction made offline is queued and sent on reconnect", arguments: Setting.all)
  func offline(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    let ref = db.reference(withPath: "count")
    try await ref.setValue(5)
    let values = Trace()
    values.observe(.value, of: ref)
    try await values.wait(for: "value 5")
    house.unplug("a")
    let heard = Trace()
    ref.runTransactionBlock({ data in
      data.value = (data.value as? Int ?? 0) + 1
      return .success(withValue: data)
    }) { error, committed, snapshot in
      heard.add("\(error == nil) \(committed) \(Trace.text(snapshot?.value))")
    }
    try await values.wait(for: "value 6")
    #expect(heard.entries.isEmpty)
    house.plug("a")
    #expect(try await heard.wait(for: 1) == ["true true 6"])
    #expect(try await house.serverValue("count") == "6")
    try await house.close()
  }
}
