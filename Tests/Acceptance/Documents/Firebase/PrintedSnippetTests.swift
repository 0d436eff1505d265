import FirebaseAuth
import FirebaseDatabase
import FirebaseFirestore
import TernFirebaseSnippets
import Testing

/// The printed code of the realtime tree and of documents, run on the default app.
extension FirestoreSnippetTests {
  @Test("F09 F12 F18 F32 F36 the printed code about documents runs as it stands")
  func documents() async throws {
    let heard = Trace()
    try await DefaultApp.use {
      FirestoreSnippets.settings()
      FirestoreSnippets.cacheSize()
      let settings = Firestore.firestore().settings
      settings.dispatchQueue = DispatchQueue(label: "callbacks of the printed code")
      Firestore.firestore().settings = settings
      FirestoreSnippets.index()
      let db = Firestore.firestore()
      FirestoreSnippets.listen(db) { heard.add($0) }
      try await heard.wait(for: "Metadata: Data fetched from server")
      FirestoreSnippets.offline { heard.add("offline") }
      try await heard.wait(for: "offline")
      now { db.collection("cities").document("SF").setData(["state": "CA"]) }
      try await heard.wait { $0.contains { $0.hasPrefix("New city:") } }
      FirestoreSnippets.online { heard.add("online") }
      try await heard.wait(for: "online")
      try await db.waitForPendingWrites()
      try await db.collection("cities").document("SF").delete()
    }
  }

  @Test("W02 W05 W18 to W38 the printed code about the realtime tree runs as it stands")
  func tree() async throws {
    let heard = Trace()
    try await DefaultApp.use {
      DatabaseSnippets.persistence()
      Database.database().callbackQueue = DispatchQueue(label: "callbacks of the printed tree")
      let auth = Auth.auth()
      let uid = try await auth.signIn(withCustomToken: DefaultApp.token("ann")).user.uid
      #expect(auth.currentUser?.uid == uid)
      let user = try #require(auth.currentUser)

      DatabaseSnippets.connection { heard.add($0) }
      try await heard.wait(for: "Connected")
      DatabaseSnippets.clockSkew { heard.add(String($0.prefix(36))) }
      try await heard.wait(for: "Estimated server time in millisecond")
      DatabaseSnippets.keepSynced()
      let scores = Database.database().reference(withPath: "scores")
      try await scores.setValue(["bruhathkayosaurus": 55, "lambeosaurus": 21, "pterodactyl": 93])
      DatabaseSnippets.fourScores { heard.add($0) }
      try await heard.wait(for: "The pterodactyl dinosaur's score is 93")
      DatabaseSnippets.twoScores { _ in heard.add("score") }
      try await heard.wait { $0.count { $0 == "score" } == 2 }
      DatabaseSnippets.stopSyncing()
      try await disconnecting()
      try await posting(user, heard)
      try auth.signOut()
      #expect(Auth.auth().currentUser == nil)
    }
  }

  /// Checks that the server applies the printed onDisconnect operations when the connection ends.
  private func disconnecting() async throws {
    let database = Database.database()
    DatabaseSnippets.disconnectMessage()
    DatabaseSnippets.lastOnline()
    let removed = database.reference(withPath: "removed")
    let kept = database.reference(withPath: "kept")
    try await removed.setValue("here")
    try await kept.setValue("here")
    DatabaseSnippets.disconnectRemoval(removed)
    DatabaseSnippets.disconnectCancelled(kept)
    DatabaseSnippets.presence()
    let morgan = database.reference(withPath: "users/morgan")
    let heard = Trace()
    morgan.observe(
      .value, with: { heard.add("\($0.childSnapshot(forPath: "connections").childrenCount)") })
    try await heard.wait(for: "1")
    // Answers come in order: with this one everything above is registered.
    try await kept.cancelDisconnectOperations()
    database.goOffline()
    database.goOnline()
    let message = database.reference(withPath: "disconnectmessage")
    message.observe(.value, with: { heard.add("\($0.value ?? "none")") })
    try await heard.wait(for: "I disconnected!")
    #expect(try await removed.getData().exists() == false)
    #expect(try await kept.getData().value as? String == "here")
    #expect(try await morgan.child("lastOnline").getData().value is NSNumber)
  }

  private func posting(_ user: FirebaseAuth.User, _ heard: Trace) async throws {
    let controller = PostController()
    let root = Database.database().reference()
    controller.saveUser(user, withUsername: "first")
    controller.saveName(user, withUsername: "second")
    #expect(await controller.readName(user.uid) == "second")
    await controller.save(user, username: "ann")
    controller.readOnce { heard.add("read \($0.username)") }
    try await heard.wait(for: "read ann")
    let key = try #require(
      controller.writeNewPost(
        withUserID: user.uid, username: "ann", title: "T", body: "B"))
    let post = root.child("posts").child(key)
    controller.observe(post) { heard.add(Trace.text($0)) }
    try await heard.wait(for: "{author:ann,body:B,title:T,uid:ann}")
    controller.star(post) { heard.add("starred \($0)") }
    try await heard.wait(for: "starred true")
    controller.addStar(key, "bob")
    try await heard.wait(
      for: "{author:ann,body:B,starCount:2,stars:{ann:1,bob:1},title:T,uid:ann}")
  }
}
