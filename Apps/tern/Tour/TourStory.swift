/// The story of the tour, scene by scene.
struct TourStory {
  let stage: TourStage
  let data: String

  /// One client of the story.
  private struct Player {
    let name: String
    let storage: String
    let process: ChildProcess
  }

  /// Plays all scenes.
  ///
  /// - Throws: ``Failure`` at the first observation that is not as expected.
  func play() async throws {
    let (server, address) = try await openServer()
    try await importData(address)
    let ann = try await enter("ann", "sqlite", address)
    let bob = try await enter("bob", "lmdb", address)
    try await liveUpdates(ann, bob)
    try await documents(address)
    try await loseServer(server, ann, bob)
    try await writeApart(ann, bob)
    try await writeDocumentApart(address)
    let annAgain = try await loseClient(ann, address)
    let again = try await reunite(annAgain, bob, address)
    try await reuniteDocuments(address)
    try await restoreBackup(again, address)
    stage.announce("done: nothing was lost, nothing was applied twice")
  }

  // MARK: - Scenes

  private func openServer() async throws -> (ChildProcess, address: String) {
    stage.announce("A server starts: SQLite in an empty folder")
    let server = try stage.start(["serve", "--dev", "--path", "server-data", "--port", "0"])
    let line = try await stage.expect("listening on ", from: server, "the server")
    stage.observe(line)
    return (server, String(line.dropFirst("listening on ".count)))
  }

  private func importData(_ address: String) async throws {
    stage.announce("Real data goes in: \(data)")
    let lines = try await stage.run([
      "import", "regions", data, "--key-by", "code", "--server", address,
    ])
    for line in lines { stage.observe(line) }
    let found = try await stage.run([
      "query", "regions/3166-2", "--order-by-child", "type", "--equal-to", "\"Parish\"",
      "--first", "3", "--server", address,
    ])
    for line in found { stage.observe(line) }
    try stage.require("\(found.count)", is: "3", "parishes among the regions")
  }

  private func enter(
    _ name: String, _ storage: String, _ address: String, offline: Bool = false
  ) async throws -> Player {
    let process = try stage.start(
      ["shell", "--cache", name, "--storage", storage, "--server", address]
        + (offline ? ["--offline"] : []))
    try await stage.expect("ready", from: process, name)
    return Player(name: name, storage: storage, process: process)
  }

  private func liveUpdates(_ ann: Player, _ bob: Player) async throws {
    stage.announce("Two clients watch scores: ann keeps her data in SQLite, bob in LMDB")
    for player in [ann, bob] { player.process.send("watch scores") }
    try await write("set scores/ann 10", by: ann, confirmed: true)
    try await hear("added scores/ann 10", by: bob)
    try await write("set scores/bob 7", by: bob, confirmed: true)
    try await hear("added scores/bob 7", by: ann)
  }

  private func loseServer(
    _ server: ChildProcess, _ ann: Player, _ bob: Player
  ) async throws {
    stage.announce("The server is killed: kill -9 \(server.processID)")
    try await stage.kill(server)
    for player in [ann, bob] {
      try await stage.expect("waiting", from: player.process, player.name)
      stage.observe("\(player.name) has no connection")
    }
  }

  private func writeApart(_ ann: Player, _ bob: Player) async throws {
    stage.announce("Both go on writing; each sees its own writes at once")
    try await write("set scores/ann {\".sv\":{\"increment\":5}}", by: ann, confirmed: false)
    try await hear("changed scores/ann 15", by: ann)
    try await write("set scores/cyd 3", by: bob, confirmed: false)
    try await pending(1, of: ann)
    try await pending(1, of: bob)
  }

  private func loseClient(_ ann: Player, _ address: String) async throws -> Player {
    stage.announce("ann is killed: kill -9 \(ann.process.processID)")
    try await stage.kill(ann.process)
    stage.announce("ann starts again, still without a server")
    let again = try await enter(ann.name, ann.storage, address)
    again.process.send("watch scores")
    try await hear("added scores/bob 7", by: again)
    again.process.send("get scores")
    try await hear(#"value scores {"ann":15,"bob":7}"#, by: again)
    try await pending(1, of: again)
    return again
  }

  private func reunite(
    _ ann: Player, _ bob: Player, _ address: String
  ) async throws -> ChildProcess {
    let port = address.split(separator: ":").last.map(String.init) ?? ""
    stage.announce("The server is back, with its data")
    let server = try stage.start(["serve", "--dev", "--path", "server-data", "--port", port])
    stage.observe(try await stage.expect("listening on ", from: server, "the server"))
    try await hear("added scores/cyd 3", by: ann)
    try await hear("changed scores/ann 15", by: bob)
    for player in [ann, bob] {
      player.process.send("settle")
      try await stage.expect("settled", from: player.process, player.name)
      try await pending(0, of: player)
    }
    stage.announce("Everybody has the same")
    let expected = #"{"ann":15,"bob":7,"cyd":3}"#
    for player in [ann, bob] {
      player.process.send("get scores")
      try await hear("value scores \(expected)", by: player)
    }
    let lines = try await stage.run(["get", "scores", "--json", "--server", address])
    try stage.require(
      lines.first ?? "",
      is: #"{"event":"value","path":"scores","key":"scores","value":\#(expected),"#
        + #""pending":false,"fromCache":false,"complete":true}"#,
      "a third client's view")
    stage.observe("a third client reads \(expected)")
    return server
  }

  private func restoreBackup(_ server: ChildProcess, _ address: String) async throws {
    stage.announce("A backup is taken while the server runs; then a mistake removes everything")
    for line in try await stage.run(["backup", "all.ternbackup", "--server", address]) {
      stage.observe(line)
    }
    _ = try await stage.run(["remove", "/", "--yes", "--server", address])
    try await end(server)
    let lines = try await stage.run(["restore", "all.ternbackup", "--path", "restored-data"])
    for line in lines { stage.observe(line) }
    let restored = try stage.start([
      "serve", "--dev", "--path", "restored-data", "--port", "0",
    ])
    let line = try await stage.expect("listening on ", from: restored, "the restored server")
    let place = String(line.dropFirst("listening on ".count))
    let scores = try await stage.run(["get", "scores/ann", "--server", place])
    try stage.require("\(scores)", is: #"["15"]"#, "ann's score after the restore")
    stage.observe("ann's score is back: 15")
    try await end(restored)
  }

  private func end(_ server: ChildProcess) async throws {
    server.stop()
    let code = await server.exitCode(within: stage.patience)
    try stage.require("\(code ?? -1)", is: "0", "the server's exit code after SIGTERM")
    stage.observe("the server stopped when asked to")
  }

  // MARK: - Documents

  /// A client of documents: commands that share a folder.
  private func cyd(_ arguments: String..., address: String) async throws -> [String] {
    try await stage.run(
      ["doc"] + arguments + ["--cache", "cyd", "--storage", "sqlite", "--server", address])
  }

  private func documents(_ address: String) async throws {
    stage.announce("Beside the tree there are documents: cyd writes one, and asks for some")
    _ = try await cyd("set", "cities/Oslo", #"{"country":"NO","people":10}"#, address: address)
    let found = try await cyd("query", "cities", "--where", #"country == "NO""#, address: address)
    try stage.require(
      "\(found)", is: #"["cities/Oslo {\"country\":\"NO\",\"people\":10}"]"#, "cyd's query")
    stage.observe("cyd reads: \(found[0])")
  }

  private func writeDocumentApart(_ address: String) async throws {
    _ = try await cyd("update", "cities/Oslo", "--increment", "people=5", address: address)
    let seen = try await cyd("query", "cities", "--where", "people > 12", address: address)
    try stage.require(
      "\(seen)",
      is: #"["cities/Oslo {\"country\":\"NO\",\"people\":15} (pending) (from the cache)"]"#,
      "cyd's query without a server")
    stage.observe("cyd reads: \(seen[0])")
  }

  private func reuniteDocuments(_ address: String) async throws {
    _ = try await stage.run([
      "pending", "send", "--cache", "cyd", "--storage", "sqlite", "--server", address,
    ])
    let lines = try await stage.run([
      "doc", "query", "cities", "--sum", "people", "--server", address,
    ])
    try stage.require("\(lines)", is: #"["sum(people) 15"]"#, "the people of all cities")
    stage.observe("the server counts the document's people: \(lines[0])")
  }

  // MARK: - Steps

  private func write(_ line: String, by player: Player, confirmed: Bool) async throws {
    player.process.send(line)
    let stored = try await stage.expect("stored ", from: player.process, player.name)
    stage.observe("\(player.name): \(line) -> \(stored)")
    guard confirmed else { return }
    let number = stored.split(separator: " ")[1]
    try await stage.expect("acknowledged \(number)", from: player.process, player.name)
    stage.observe("\(player.name): acknowledged by the server")
  }

  private func hear(_ line: String, by player: Player) async throws {
    let heard = try await stage.expect(line, from: player.process, player.name)
    stage.observe("\(player.name) hears: \(heard)")
  }

  private func pending(_ count: Int, of player: Player) async throws {
    player.process.send("pending")
    try await stage.expect("pending \(count)", from: player.process, player.name)
    stage.observe("\(player.name) has \(count) pending")
  }
}
