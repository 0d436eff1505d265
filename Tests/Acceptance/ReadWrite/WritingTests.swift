import Foundation
import TernFirebaseCompat
import Testing

@Suite struct WritingTests {
  @Test("references know their keys and parents")
  func references() async throws {
    let house = try await House(Setting(storage: "memory", transport: "loopback"))
    let db = try await house.open("a")
    let ref: DatabaseReference = db.reference()
    let uid = "ann"
    let child = ref.child("users").child(uid)
    #expect(child.key == "ann")
    #expect(ref.child("users/\(uid)/username").parent?.key == "ann")
    #expect(ref.key == nil)
    #expect(ref.parent == nil)
    try await house.close()
  }

  @Test(
    "W06 W11 a listener hears the state once and every change, also below", arguments: Setting.all)
  func listening(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    let writer = try await house.open("b")
    let heard = Trace()
    heard.observe(.value, of: db.reference(withPath: "post"))
    try await heard.wait(for: 1)
    try await writer.reference(withPath: "post").setValue(["title": "T", "deep": ["er": 1]])
    try await writer.reference(withPath: "post/deep/er").setValue(2)
    #expect(
      try await heard.wait(for: 3) == [
        "value null", "value {deep:{er:1},title:T}", "value {deep:{er:2},title:T}",
      ])
    try await house.close()
  }

  @Test("W07 setValue replaces everything at the path", arguments: Setting.all)
  func replaces(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    let ref = db.reference(withPath: "users/ann")
    try await ref.setValue(["username": "ann", "age": 30])
    try await ref.setValue(["username": "anna"])
    #expect(try await house.serverValue("users/ann") == "{username:anna}")
    try await house.close()
  }

  @Test("W08 W13 every JSON type goes in and comes out as itself", arguments: Setting.all)
  func types(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    let ref = db.reference(withPath: "types")
    try await ref.setValue(
      [
        "text": "héllo", "int": 9_007_199_254_740_993 as Int64, "double": 2.5, "yes": true,
        "one": 1,
        "list": ["a", "b"], "map": ["k": ["x": 1]], "null": NSNull(),
      ] as [String: Any])
    let reader = try await house.open("b")
    let snapshot = try await reader.reference(withPath: "types").getData()
    let value = try #require(snapshot.value as? NSDictionary)
    #expect(value["text"] as? String == "héllo")
    #expect(value["int"] as? Int64 == 9_007_199_254_740_993)
    #expect(value["double"] as? Double == 2.5)
    #expect(value["yes"] as? Bool == true)
    #expect(value["one"] as? Int == 1)
    #expect(value["list"] as? [String] == ["a", "b"])
    #expect((value["map"] as? NSDictionary)?["k"] as? [String: Int] == ["x": 1])
    #expect(value["null"] == nil)
    #expect(try await house.serverExport("types/yes") == "true")
    #expect(try await house.serverExport("types/one") == "1")
    try await house.close()
  }

  @Test("W08 the four types of Foundation go in, alone and in each other", arguments: Setting.all)
  func foundationTypes(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    let ref = db.reference(withPath: "types")
    let cases: [(value: Any, json: String)] = [
      (NSString(string: "héllo"), "\"héllo\""), (NSNumber(value: 2.5), "2.5"),
      (NSNumber(value: 9_007_199_254_740_993 as Int64), "9007199254740993"),
      (NSNumber(value: 1), "1"), (NSNumber(value: true), "true"), (NSNumber(value: false), "false"),
      (NSNumber(value: -1 as Int8), "-1"), (NSNumber(value: 0.5 as Float), "0.5"),
      (
        NSDictionary(dictionary: ["a": NSNumber(value: 1), "b": NSString(string: "x")]),
        #"{"a":1,"b":"x"}"#
      ),
      (NSArray(array: [NSNumber(value: 1), NSString(string: "x")]), #"{"0":1,"1":"x"}"#),
      (
        NSDictionary(dictionary: [
          "list": NSArray(array: [NSDictionary(dictionary: ["n": NSNumber(value: true)])]),
          "none": NSNull(),
        ]), #"{"list":{"0":{"n":true}}}"#
      ),
    ]
    for (value, json) in cases {
      try await ref.setValue(value)
      #expect(try await house.serverExport("types") == json, "\(value)")
    }
    try await ref.updateChildValues([
      NSString(string: "list"): NSArray(array: [NSNumber(value: 7)]), "map": NSDictionary(),
    ])
    #expect(try await house.serverExport("types") == #"{"list":{"0":7}}"#)
    let found = try await ref.getData().value as? NSDictionary
    #expect(found?["list"] as? NSArray == NSArray(array: [NSNumber(value: 7)]))
    #expect((found?["list"] as? NSArray)?[0] as? NSNumber == 7)
    try await house.close()
  }

  @Test("W09 a deep write leaves siblings alone", arguments: Setting.all)
  func deep(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    let ref = db.reference()
    try await ref.child("users/ann").setValue(["username": "ann", "age": 30])
    try await ref.child("users/ann/username").setValue("anna")
    #expect(try await house.serverValue("users/ann") == "{age:30,username:anna}")
    try await house.close()
  }

  @Test(
    "W19 W27 updateChildValues writes some children, nil deletes, others stay",
    arguments: Setting.all)
  func update(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    let ref = db.reference(withPath: "u")
    try await ref.setValue(["a": 1, "b": 2, "c": 3, "d": 4])
    try await ref.updateChildValues(["a": 10, "b": NSNull(), "c": NSNull()])
    #expect(try await house.serverValue("u") == "{a:10,d:4}")
    try await house.close()
  }

  @Test(
    "W20 W22 the printed fan-out: a key made locally, two places written at once",
    arguments: Setting.all)
  func fanOut(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    let ref = db.reference()
    let (userID, username, title, body) = ("ann", "Ann", "Hello", "World")
    house.unplug("a")
    guard let key = ref.child("posts").childByAutoId().key else {
      Issue.record("no key")
      return
    }
    let post = ["uid": userID, "author": username, "title": title, "body": body]
    let childUpdates = ["/posts/\(key)": post, "/user-posts/\(userID)/\(key)/": post]
    now { ref.updateChildValues(childUpdates) }
    house.plug("a")
    try await db.waitForPendingWrites()
    let line = "{author:Ann,body:World,title:Hello,uid:ann}"
    #expect(try await house.serverValue("posts/\(key)") == line)
    #expect(try await house.serverValue("user-posts/ann/\(key)") == line)
    try await house.close()
  }

  @Test("W22 keys made offline are unique and in order of time")
  func autoIds() async throws {
    let house = try await House(Setting(storage: "memory", transport: "loopback"))
    let db = try await house.open("a")
    house.unplug("a")
    let keys = (0..<1000).compactMap { _ in db.reference(withPath: "p").childByAutoId().key }
    #expect(Set(keys).count == 1000)
    #expect(keys == keys.sorted())
    #expect(keys.allSatisfy { $0.utf8.count == 20 })
    try await house.close()
  }

  @Test("W21 a multi-path update is seen whole or not at all", arguments: Setting.all)
  func atomic(setting: Setting) async throws {
    let house = try await House(setting, denying: "locked")
    let db = try await house.open("a")
    let watcher = try await house.open("b")
    let heard = Trace()
    heard.observe(.value, of: watcher.reference(withPath: "pair"))
    try await heard.wait(for: "value null")
    for number in 1...20 {
      try await db.reference(withPath: "pair").updateChildValues(["x/n": number, "y/n": number])
    }
    try await heard.wait(for: "value {x:{n:20},y:{n:20}}")
    for number in 1...20 {
      let half = "{x:{n:\(number)},y:{n:\(number)}}"
      #expect(heard.entries.contains("value \(half)") || number < 20)
    }
    #expect(
      heard.entries.dropFirst().allSatisfy { entry in
        (1...20).contains { entry == "value {x:{n:\($0)},y:{n:\($0)}}" }
      })
    await #expect(throws: (any Error).self) {
      try await db.reference().updateChildValues(["pair/x/n": 99, "locked/z": 1])
    }
    #expect(try await house.serverValue("pair") == "{x:{n:20},y:{n:20}}")
    try await house.close()
  }

  @Test("W23 W24 the completion comes with the commit, or with the error", arguments: Setting.all)
  func completion(setting: Setting) async throws {
    let house = try await House(setting, denying: "locked")
    let db = try await house.open("a")
    house.unplug("a")
    let heard = Trace()
    now {
      db.reference(withPath: "open").setValue(1) { error, reference in
        heard.add("open \(error == nil) \(reference.key ?? "")")
      }
      db.reference(withPath: "locked").setValue(1) { error, _ in
        heard.add("locked \(error == nil)")
      }
      db.reference().updateChildValues(["x": 1]) { error, _ in heard.add("update \(error == nil)") }
    }
    await house.settle(db)
    #expect(heard.entries.isEmpty)
    house.plug("a")
    // An error is told once the device keeps it, which may be after later writes were committed.
    #expect(
      try await heard.wait(for: 3).sorted() == ["locked false", "open true open", "update true"])
    try await house.close()
  }

  @Test("W25 D07 an awaited setValue returns with the server's verdict", arguments: Setting.all)
  func awaited(setting: Setting) async throws {
    let house = try await House(setting, denying: "locked")
    let db = try await house.open("a")
    try await db.reference(withPath: "users/ann").setValue(["username": "ann"])
    #expect(try await house.serverValue("users/ann") == "{username:ann}")
    await #expect(throws: (any Error).self) {
      try await db.reference(withPath: "locked").setValue(1)
    }
    #expect(try await house.serverValue("locked") == "null")
    try await house.close()
  }

  @Test("W26 removeValue and writing nil end in the same state", arguments: Setting.all)
  func removing(setting: Setting) async throws {
    let house = try await House(setting)
    let db = try await house.open("a")
    for name in ["a", "b", "c"] { try await db.reference(withPath: "gone/\(name)").setValue(1) }
    try await db.reference(withPath: "gone/a").removeValue()
    try await db.reference(withPath: "gone/b").setValue(nil)
    try await db.reference(withPath: "gone").updateChildValues(["c": NSNull()])
    #expect(try await house.serverValue("gone") == "null")
    try await house.close()
  }
}
