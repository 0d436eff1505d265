import FirebaseCore
import FirebaseDatabase
import TernClient
import TernSync
import Testing

@testable import TernFirebaseCompat

/// Calls where Swift takes the version of a call that does not wait.
private func now(_ body: () -> Void) { body() }

@Suite struct AppTests {
  @Test(
    "an address is read in its parts",
    arguments: [
      ("https://chat.firebaseio.com", true, "chat.firebaseio.com", 443, "chat", ""),
      ("http://localhost:9000?ns=chat", false, "localhost", 9000, "chat", ""),
      ("http://localhost:9000/a/b%20c/", false, "localhost", 9000, nil, "a/b c"),
      ("https://db.example.com/?ns=x%20y", true, "db.example.com", 443, "x y", ""),
      ("http://db.example.com", false, "db.example.com", 80, "db", ""),
      ("http://example.com", false, "example.com", 80, nil, ""),
      ("http://127.0.0.1:80", false, "127.0.0.1", 80, nil, ""),
      ("ws://[::1]:9000", false, "::1", 9000, nil, ""),
    ] as [(String, Bool, String, Int, String?, String)])
  func addresses(
    text: String, isEncrypted: Bool, host: String, port: Int, namespace: String?, path: String
  ) throws {
    let address = try #require(DatabaseAddress(text))
    #expect(address.isEncrypted == isEncrypted)
    #expect(address.host == host)
    #expect(address.port == port)
    #expect(address.namespace == namespace)
    #expect(address.path == path)
  }

  @Test("no address", arguments: ["", "chat", "ftp://a.b", "https://"])
  func notAnAddress(text: String) { #expect(DatabaseAddress(text) == nil) }

  @Test("an address names a database of its own on the same server, with stores of its own")
  func namespaces() async throws {
    let server = try await LocalServer()
    let app = server.app()
    let plain = server.database(of: app)
    plain.isPersistenceEnabled = true
    let chat = server.database(of: app, url: "https://Chat.firebaseio.com/")
    chat.isPersistenceEnabled = true
    #expect(chat === Database.database(app: app, url: "http://localhost?ns=chat"))
    #expect(plain === Database.database(app: app))
    #expect(chat !== plain)
    #expect(chat.app === app && plain.app === app)
    try await plain.reference(withPath: "who").setValue("plain")
    try await chat.reference(withPath: "who").setValue("chat")
    #expect(try await plain.reference(withPath: "who").getData().value as? String == "plain")
    #expect(try await chat.reference(withPath: "who").getData().value as? String == "chat")
    let path = server.folder.path + "/" + app.name
    #expect(FileManager.default.fileExists(atPath: path + "/queue"))
    #expect(FileManager.default.fileExists(atPath: path + "/trees/chat/queue"))

    // Another app reaches the same database by its options, and not that of the first app.
    let other = server.app { $0.databaseURL = "http://localhost?ns=chat" }
    let same = server.database(of: other)
    #expect(try await same.reference(withPath: "who").getData().value as? String == "chat")
    #expect(other.options.databaseURL == "http://localhost?ns=chat")
    await app.delete()
    await other.delete()
    await server.close()
  }

  @Test("a location is found by its address, and no other server's or database's")
  func locationsByAddress() async throws {
    let server = try await LocalServer()
    let app = server.app()
    let database = server.database(of: app)
    let place = database.reference(withPath: "rooms/a b/ü")
    #expect(database.reference(fromURL: place.url) == place)
    #expect(place.description() == place.url)
    #expect(String(describing: place) == place.url)
    #expect(database.reference(fromURL: "http://localhost").key == nil)
    for wrong in ["http://localhost/x?ns=chat", "http://elsewhere/x", "x", "http://localhost/a.b"] {
      let reference = database.reference(fromURL: wrong)
      await #expect(throws: NSError.self) { try await reference.setValue(1) }
    }
    await app.delete()
    await server.close()
  }

  @Test("a deleted app frees its name and its files; its queued writes are sent by the next one")
  func deletion() async throws {
    let server = try await LocalServer()
    let first = server.app()
    #expect(FirebaseApp.allApps?[first.name] === first)
    #expect(first.isDataCollectionDefaultEnabled)
    first.isDataCollectionDefaultEnabled = false
    #expect(!first.isDataCollectionDefaultEnabled)
    let database = server.database(of: first)
    database.isPersistenceEnabled = true
    database.goOffline()
    let place = database.reference(withPath: "queued")
    now { place.setValue("later") }
    #expect(try await place.getData().value as? String == "later")
    #expect(first.auth.currentUser == nil)
    #expect(await first.delete())
    #expect(await first.delete() == false)
    #expect(FirebaseApp.app(name: first.name) == nil)

    let second = server.app(first.name)
    let again = server.database(of: second)
    again.isPersistenceEnabled = true
    _ = again.reference()
    for await status in try await again.native().tree.queue
    where status.pending.isEmpty {
      break
    }
    let reader = server.database()
    #expect(try await reader.reference(withPath: "queued").getData().value as? String == "later")
    let ended = Answer<Bool>()
    second.delete { ended.give($0) }
    #expect(await ended.next() == true)
    await server.close()
  }

  @Test("options are read from a property list")
  func propertyList() throws {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("\(ProcessInfo.processInfo.globallyUniqueString).plist")
    defer { try? FileManager.default.removeItem(at: file) }
    var list = ["GOOGLE_APP_ID": "1:2:ios:3", "API_KEY": "key", "PROJECT_ID": "chat"]
    try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
      .write(to: file)
    #expect(FirebaseOptions(contentsOfFile: file.path) == nil)
    list["GCM_SENDER_ID"] = "2"
    list["DATABASE_URL"] = "https://chat.firebaseio.com"
    try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
      .write(to: file)
    let options = try #require(FirebaseOptions(contentsOfFile: file.path))
    #expect(options.googleAppID == "1:2:ios:3" && options.gcmSenderID == "2")
    #expect(options.apiKey == "key" && options.projectID == "chat")
    #expect(options.databaseURL == "https://chat.firebaseio.com" && options.clientID == nil)
    #expect(FirebaseOptions(contentsOfFile: "/nowhere") == nil)
  }

  @Test("the version and the logs have a switch")
  func library() {
    #expect(Database.sdkVersion().split(separator: ".").count == 3)
    #expect(!DebugLog.isEnabled(.tree))
    Database.setLoggingEnabled(true)
    #expect(DebugLog.isEnabled(.tree) && !DebugLog.isEnabled(.documents))
    Database.setLoggingEnabled(false)
    #expect(!DebugLog.isEnabled(.tree))
  }
}
