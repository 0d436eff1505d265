import Dispatch
import Foundation
import TernFirebaseCompat
import Testing

@testable import tern

/// `tern serve --dev` as the emulator of a project.
@Suite("the emulator") struct EmulatorTests {
  /// A project's folder, as the Firebase tools make it.
  private func withProject(_ body: (String) async throws -> Void) async throws {
    try await withFolder { folder in
      let files = [
        "firebase.json": """
        {
          "database": {"rules": "rules/tree.rules.json"},
          "emulators": {"database": {"host": "127.0.0.1", "port": 0}, "ui": {"enabled": true}}
        }
        """,
        "rules/tree.rules.json": """
        {
          // As a project has it.
          "rules": {"notes": {".read": true, ".write": true}, "private": {"$uid": {
            ".read": "auth.uid === $uid", ".write": "auth.uid === $uid"
          }}}
        }
        """,
      ]
      try FileManager.default.createDirectory(
        atPath: folder + "/rules", withIntermediateDirectories: true)
      for (name, text) in files {
        try Data(text.utf8).write(to: URL(filePath: folder + "/" + name))
      }
      try await body(folder)
    }
  }

  /// Starts a server in a folder, and waits until it listens.
  private func start(_ arguments: [String], in folder: String) async throws -> (
    ChildProcess, address: String
  ) {
    let process = try ChildProcess(ternBinary, ["serve"] + arguments, folder: folder)
    let line = await process.output.line(within: patience) { $0.hasPrefix("listening on ") }
    let found = try #require(line, "\(process.errors.history)")
    return (process, String(found.dropFirst("listening on ".count)))
  }

  /// Sends a request, and answers everything that comes back.
  private func exchange(
    _ method: String, _ target: String, _ body: String = "", _ headers: String = "",
    at address: String
  ) throws -> String {
    let port = try #require(address.split(separator: ":").last.flatMap { UInt16($0) })
    let request =
      "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(headers)"
      + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    let answer = try sendBytes(Array(request.utf8), toPort: port, endingOutput: false)
    return String(decoding: answer, as: UTF8.self)
  }

  private func owner(as uid: String) throws -> String {
    let auth = #"{"uid":"\#(uid)"}"#
    let escaped = try #require(auth.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
    return "access_token=owner&auth_variable_override=\(escaped)"
  }

  @Test("W01 models, rules and mock users are tried out against a local server")
  func prototype() async throws {
    try await withProject { folder in
      let (process, address) = try await start(["--dev", "--storage", "memory"], in: folder)
      defer { process.killNow() }
      #expect(process.output.history.contains { $0.contains("rules/tree.rules.json says") })
      let mine = "/private/ann.json"
      #expect(try exchange("PUT", mine, "1", at: address).contains("401"))
      let ann = try owner(as: "ann")
      #expect(try exchange("PUT", mine + "?" + ann, "1", at: address).contains("200 OK"))
      let ben = try owner(as: "ben")
      #expect(try exchange("GET", mine + "?" + ben, at: address).contains("401"))
      #expect(try exchange("GET", mine + "?access_token=owner", at: address).hasSuffix("\r\n1"))
      // The token that a stock client makes up for a mock user: it has no signature, and it expired
      // in 1970.
      let mock = "eyJhbGciOiJub25lIiwidHlwZSI6IkpXVCJ9.eyJzdWIiOiJhbm4iLCJpYXQiOjAsImV4cCI6MzYwMH0."
      #expect(try exchange("PUT", mine + "?auth=\(mock)", "1", at: address).contains("200 OK"))
      let bearer = "Authorization: Bearer \(mock)\r\n"
      #expect(try exchange("GET", mine, "", bearer, at: address).hasSuffix("\r\n1"))
      #expect(try exchange("GET", "/private/ben.json", "", bearer, at: address).contains("401"))
      // Content goes in and out as a whole, and each namespace is a database of its own.
      let all = "/.json?access_token=owner&ns=imported"
      #expect(try exchange("PUT", all, #"{"notes":{"a":1}}"#, at: address).contains("200 OK"))
      let export = try exchange("GET", all + "&format=export", at: address)
      #expect(export.hasSuffix(#"{"notes":{"a":1}}"#))
      let listed = try exchange(
        "GET", "/.inspect/databases.json?access_token=owner", at: address)
      #expect(listed.hasSuffix(#"[{"name":"default"},{"name":"imported"}]"#), "\(listed)")
    }
  }

  @Test("W03 one command in the folder of a project starts what the project says")
  func project() async throws {
    try await withProject { folder in
      let (process, address) = try await start(["--dev"], in: folder)
      defer { process.killNow() }
      #expect(address.hasPrefix("127.0.0.1:"))
      let hint = "for Firebase clients: FIREBASE_DATABASE_EMULATOR_HOST=\(address)"
      #expect(process.output.history.contains(hint))
      let documents = "for Firestore clients: FIRESTORE_EMULATOR_HOST=\(address)"
      #expect(process.output.history.contains(documents))
      #expect(try exchange("PUT", "/notes/a.json", "1", at: address).contains("200 OK"))
      #expect(try exchange("PUT", "/other.json", "1", at: address).contains("401"))
    }
    try await withFolder { folder in
      let text = #"{"emulators": {"database": {"port": 1e9}}}"#
      try Data(text.utf8).write(to: URL(filePath: folder + "/firebase.json"))
      let refused = try await run(["serve", "--dev"], folder: folder)
      #expect(refused.code == 2)
      #expect(refused.errors.contains("firebase.json: emulators.database.port"), "\(refused)")
    }
  }

  @Test("queries that need an index are rejected, where a project asks for it")
  func requiredIndexes() async throws {
    try await withFolder { folder in
      let files = [
        "firebase.json": #"""
        {"firestore": {"rules": "open.rules", "indexes": "indexes.json"},
         "emulators": {"firestore": {"host": "127.0.0.1", "port": 0}}}
        """#,
        "open.rules": """
        service cloud.firestore { match /databases/{database}/documents {
          match /{path=**} { allow read, write; }
        } }
        """,
        "indexes.json": #"""
        {"indexes": [{"collectionGroup": "c", "queryScope": "COLLECTION", "fields": [
          {"fieldPath": "a", "order": "ASCENDING"}, {"fieldPath": "b", "order": "ASCENDING"}]}]}
        """#,
      ]
      for (name, text) in files {
        try Data(text.utf8).write(to: URL(filePath: folder + "/" + name))
      }
      let (process, address) = try await start(
        ["--dev", "--storage", "memory", "--require-indexes"], in: folder)
      defer { process.killNow() }
      func query(_ field: String) throws -> String {
        let body =
          #"{"structuredQuery":{"from":[{"collectionId":"c"}],"where":{"fieldFilter":{"field":"#
          + #"{"fieldPath":"a"},"op":"EQUAL","value":{"integerValue":"1"}}},"orderBy":[{"field":"#
          + #"{"fieldPath":"\#(field)"}}]}}"#
        return try exchange(
          "POST", "/v1/projects/p/databases/(default)/documents:runQuery", body, at: address)
      }
      #expect(try query("b").contains("200 OK"))
      #expect(try query("z").contains("The query requires an index."))
      try Data("{".utf8).write(to: URL(filePath: folder + "/indexes.json"))
      let refused = try await run(["serve", "--dev", "--require-indexes"], folder: folder)
      #expect(refused.code == 2)
      #expect(refused.errors.contains("indexes.json: "), "\(refused)")
    }
  }

  @Test("W02 one line connects an app to the emulator")
  func oneLine() async throws {
    try await withProject { folder in
      let (process, address) = try await start(["--dev", "--storage", "memory"], in: folder)
      defer { process.killNow() }
      let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
      let app = FirebaseApp.configure(name: "emulated \(port)")
      let database = Database.database(app: app)
      database.useEmulator(withHost: "127.0.0.1", port: port)
      database.callbackQueue = DispatchQueue(label: "callbacks")
      let note = database.reference(withPath: "notes/a")
      try await note.setValue("hello")
      #expect(try await note.getData().value as? String == "hello")
      await #expect(throws: (any Error).self) {
        try await database.reference(withPath: "private/ann").setValue(1)
      }
      #expect(try exchange("GET", "/notes/a.json", at: address).hasSuffix(#""hello""#))
      await database.close()
    }
  }

  @Test("W04 what an app writes is read over REST, and the other way around")
  func rest() async throws {
    try await withProject { folder in
      let (process, address) = try await start(["--dev", "--storage", "memory"], in: folder)
      defer { process.killNow() }
      let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
      let app = FirebaseApp.configure(name: "over REST \(port)")
      let database = Database.database(app: app)
      database.useEmulator(withHost: "127.0.0.1", port: port)
      database.callbackQueue = DispatchQueue(label: "callbacks")
      let notes = database.reference(withPath: "notes")
      try await notes.setValue(["a": 1])
      #expect(try exchange("GET", "/notes.json", at: address).hasSuffix(#"{"a":1}"#))
      #expect(try exchange("PUT", "/notes/b.json", "2", at: address).hasSuffix("\r\n2"))
      #expect(try exchange("PATCH", "/notes.json", #"{"c":3}"#, at: address).hasSuffix(#"{"c":3}"#))
      #expect(try exchange("POST", "/notes/list.json", "4", at: address).contains(#"{"name":"-"#))
      #expect(try exchange("DELETE", "/notes/a.json", at: address).hasSuffix("\r\nnull"))
      let found = try await notes.getData().value as? [String: Any]
      #expect(found?.keys.sorted() == ["b", "c", "list"])
      // A stream begins with what is there, and tells of what the app does.
      let stream = try StreamUnderTest("/notes/b.json", port: port)
      #expect(stream.read(through: "\n\n").hasSuffix(#"data: {"path":"/","data":2}"# + "\n\n"))
      try await notes.child("b").setValue(5)
      #expect(stream.read(through: "\n\n").hasSuffix(#"data: {"path":"/","data":5}"# + "\n\n"))
      await database.close()
    }
  }

  @Test("W41 the shipped rules keep a user from starring twice, over the wire")
  func stars() async throws {
    let rules = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Docs/Examples/stars.rules.json").standardizedFileURL.path
    try await withFolder { folder in
      let (process, address) = try await start(
        ["--dev", "--storage", "memory", "--port", "0", "--rules", rules], in: folder)
      defer { process.killNow() }
      func star(_ uid: String, _ star: String, count: Int) throws -> Bool {
        let body = #"{"stars/\#(uid)":\#(star),"starCount":\#(count)}"#
        let answer = try exchange(
          "PATCH", "/posts/p1.json?" + owner(as: uid), body, at: address)
        return answer.contains("200 OK")
      }
      #expect(try star("ann", "true", count: 1))
      #expect(try !star("ann", "true", count: 2), "twice")
      #expect(try star("ben", "true", count: 2))
      #expect(try !star("ben", "null", count: 2), "the count goes with the star")
      #expect(try star("ann", "null", count: 1))
      let left = try exchange("GET", "/posts/p1.json", at: address)
      #expect(left.hasSuffix(#"{"starCount":1,"stars":{"ben":true}}"#), "\(left)")
    }
  }
}
