import Foundation
import TernCore
import TernTestKit
import Testing

@testable import tern

/// A program that is killed around changes of its user: every write is made once, under the name of
/// its author, however the device changes hands meanwhile.
///
/// The server accepts no write under another name, so a write that is sent with another user's
/// credential is rejected, and missing in the end. `TERN_KILL_SEED` repeats the choices of a run.
@Suite("kills around changes of user") struct KillUserTests {
  private static let rules = """
    {"rules": {".read": true, "marks": {
      "$user": {".write": "auth === null ? $user === 'nobody' : auth.uid === $user"}
    }}}
    """
  private static let kills = 10

  @Test("every write is made once, by the user who made it", arguments: ["sqlite", "lmdb"])
  func changes(storage: String) async throws {
    let environment = ProcessInfo.processInfo.environment
    let seed =
      environment["TERN_KILL_SEED"].flatMap { UInt64($0) }
      ?? (environment["CI"] == nil ? .random(in: 1...1_000_000) : 1)
    try await withFolder { folder in
      try write(String(repeating: "secret", count: 8), to: folder + "/key")
      try write(Self.rules, to: folder + "/rules")
      var commands = ["nobody": "as"]
      for user in ["ann", "bob"] {
        let signed = try await run(["auth", "sign", "--key", folder + "/key", user])
        commands[user] = "as \(try #require(signed.output.first, "\(signed)"))"
      }
      // With `--dev`, documents are open to clients on this machine beside the rules of the tree.
      let server = try await ServerUnderTest(
        folder: folder,
        arguments: ["--dev", "--rules", folder + "/rules", "--auth-keys", folder + "/key"])
      defer { server.process.killNow() }
      let client = KillClient("device", storage: storage, folder: folder, port: server.port)
      defer { client.clean() }
      var device = DeviceOfMany(client, commands, SeededGenerator(seed: seed))
      try await device.begin()
      for _ in 0..<Self.kills { try await device.useAndKill() }
      let sight = try await device.end()

      let made = try marks(in: sight)
      #expect(device.problems == [], "TERN_KILL_SEED=\(seed)")
      #expect(made.values.allSatisfy { $0 == 1 }, "TERN_KILL_SEED=\(seed): \(made)")
      let promised = client.lines.compactMap(Self.promise)
      for mark in promised { #expect(made[mark] != nil, "lost \(mark): TERN_KILL_SEED=\(seed)") }
      #expect(promised.count > Self.kills && Swift.Set(made.keys.map(\.user)).count == 3)
    }
  }

  /// A write by its kind, its user and its number.
  private struct Mark: Hashable {
    let kind: String
    let user: String
    let number: String
  }

  /// The write that a line promises to be there for ever.
  private static func promise(_ line: String) -> Mark? {
    let words = line.split(separator: " ").map(String.init)
    guard words.count == 4, ["stored", "acked"].contains(words[0]) else { return nil }
    return Mark(kind: words[1], user: words[2], number: words[3])
  }

  /// Returns the number of times that each write was made.
  private func marks(in sight: KillSight) throws -> [Mark: Int64] {
    var made: [Mark: Int64] = [:]
    if case .object(let users)? = try JSONValue(parsing: sight.tree)["marks"] {
      for case (let user, .object(let marks)) in users.map({ ($0.name, $0.value) }) {
        for mark in marks {
          made[Mark(kind: "mark", user: user, number: mark.name)] = mark.value.integer ?? 0
        }
      }
    }
    guard case .object(let documents) = try JSONValue(parsing: sight.documents) else { return made }
    for document in documents {
      let words = document.name.split(separator: "-").map(String.init)
      guard words.count == 3, words[0] == "mark" else { continue }
      made[Mark(kind: "document-mark", user: words[1], number: words[2])] =
        document.value["count"]?.integer ?? 0
    }
    return made
  }

  private func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
  }
}

/// A device of several users, whose program is killed.
private struct DeviceOfMany {
  private(set) var problems: [String] = []
  private let client: KillClient
  /// The command with which each user signs in.
  private let commands: [String: String]
  private var dice: SeededGenerator
  private var user = "nobody"

  init(_ client: KillClient, _ commands: [String: String], _ dice: SeededGenerator) {
    self.client = client
    self.commands = commands
    self.dice = dice
  }

  func begin() async throws { try await client.start(seed: 0) }

  /// Lets some users use the device, kills its program at some point of that, and starts it again.
  mutating func useAndKill() async throws {
    var asked: [String] = []
    var marks = 0
    for _ in 0..<Int.random(in: 1...4, using: &dice) {
      let next = commands.keys.sorted().randomElement(using: &dice) ?? user
      let count = Int.random(in: 1...6, using: &dice)
      asked.append(next)
      marks += count
      client.send(commands[next] ?? "")
      client.send("mark \(count)")
    }
    let known = client.lines.count
    if Bool.random(using: &dice) {
      for _ in 0..<Int.random(in: 1...asked.count, using: &dice) { try await client.line("user ") }
    } else {
      // Each number is a write to the tree and one to documents.
      for _ in 0..<Int.random(in: 1...2 * marks, using: &dice) { try await client.line("stored ") }
    }
    try await client.kill()
    let told = client.lines[known...].count { $0.hasPrefix("user ") }
    let line = try await restart()
    let possible = told == 0 ? [user] + asked : Array(asked[(told - 1)...])
    user = String(line.dropFirst("open ".count))
    if !possible.contains(user) { problems.append("\(user) uses the device, not \(possible)") }
  }

  private func restart() async throws -> String {
    try client.launch(seed: 0)
    return try await client.line("open")
  }

  /// Lets every user come back until all of their writes are sent, and reads the result.
  mutating func end() async throws -> KillSight {
    for name in commands.keys.sorted() {
      client.send(commands[name] ?? "")
      try await client.line("user \(name)")
      // A user without a write that lasted has this one.
      client.send("mark 1")
      client.send("drain")
      try await client.line("drained \(name)")
    }
    let known = ["open", "user", "stored", "acked", "drained"]
    problems += client.lines.filter { line in !known.contains { line.hasPrefix($0 + " ") } }
    return try await client.sight()
  }
}
