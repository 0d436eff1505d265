import Foundation
import Testing

@testable import tern

@Suite("backup and restore") struct BackupCommandTests {
  @Test("a backup of a running server brings everything back, into another kind of store")
  func roundTrip() async throws {
    try await withServer { server, folder in
      #expect(try await server.tern("set", "rooms/42", #"{"title":"Hi","n":1}"#).code == 0)
      #expect(try await server.tern("set", "a", "7", "--ns", "harbor").code == 0)
      #expect(try await server.tern("doc", "set", "cities/Oslo", #"{"people":10}"#).code == 0)
      let rules = folder + "/own.json"
      try Data(#"{"rules": {".read": true, ".write": true, "x": {}}}"#.utf8)
        .write(to: URL(filePath: rules))
      #expect(try await server.tern("rules", "deploy", rules, "--ns", "harbor").code == 0)
      let file = folder + "/one.ternbackup"
      let made = try await server.tern("backup", file, "--json")
      #expect(made.code == 0 && made.output.first?.contains(#""since":null"#) == true, "\(made)")
      #expect(try await server.tern("set", "rooms/42/n", "2").code == 0)
      let more = try await server.tern("backup", folder + "/two.ternbackup", "--since", file)
      #expect(more.code == 0 && more.output.first?.contains("increment") == true, "\(more)")
      let same = try await server.tern("backup", file)
      #expect(same.code == 2 && same.errors.contains("is there already"), "\(same)")
      let verified = try await run(["verify", file, folder + "/two.ternbackup"])
      #expect(verified.code == 0 && verified.output.count == 2, "\(verified)")

      let first = ["--path", folder + "/restored", "--storage", "lmdb"]
      let restored = try await run(["restore", file] + first)
      #expect(restored.code == 0, "\(restored)")
      let again = try await run(["restore", file] + first)
      #expect(again.code == 2 && again.errors.contains("already"), "\(again)")
      let well = try await run(["verify"] + first)
      #expect(well.code == 0, "\(well)")
      let both = ["restore", folder + "/two.ternbackup", file, "--path", folder + "/both/data"]
      #expect(try await run(both).code == 0)

      let other = try await ServerUnderTest(
        folder: folder + "/both", arguments: ["--dev"])
      #expect(
        try await other.tern("get", "rooms/42", "--json").output.first?
          .contains(#""value":{"n":2,"title":"Hi"}"#) == true)
      #expect(try await other.tern("get", "a", "--ns", "harbor").output == ["7"])
      let kept = try await other.tern("rules", "get", "--ns", "harbor")
      #expect(kept.output.first?.contains(#""x": {}"#) == true, "\(kept)")
      let city = try await other.tern("doc", "get", "cities/Oslo")
      #expect(city.output.joined().contains("10"), "\(city)")
      #expect(await other.stop() == 0)
    }
  }

  @Test("a stopped server's store is backed up, and what does not verify is not restored")
  func damage() async throws {
    try await withFolder { folder in
      let server = try await ServerUnderTest(folder: folder)
      #expect(try await server.tern("set", "a", "1").code == 0)
      let long = "\"" + String(repeating: "x", count: 20_000) + "\""
      #expect(try await server.tern("set", "long", long).code == 0)
      let limited = try await run(
        ["-c", "ulimit -f 1; exec \"$0\" \"$@\"", ternBinary, "backup", folder + "/full"]
          + ["--server", server.address], program: "/bin/bash")
      #expect(limited.code == 1 && limited.errors.contains("cannot write"), "\(limited)")
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder)
          .filter { $0.hasPrefix("full") }.isEmpty)
      let busy = try await run(["backup", folder + "/x", "--path", folder + "/data"])
      #expect(busy.code == 1 && busy.errors.contains("open"), "\(busy)")
      #expect(await server.stop() == 0)
      let file = folder + "/one"
      #expect(try await run(["backup", file, "--path", folder + "/data"]).code == 0)
      let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      #expect(names == ["data", "one"])
      let rights = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions]
      #expect((rights as? NSNumber)?.intValue == 0o600)

      var bytes = try Data(contentsOf: URL(filePath: file))
      bytes[bytes.count / 2] ^= 4
      try bytes.write(to: URL(filePath: folder + "/flipped"))
      try Data(bytes.dropLast(40)).write(to: URL(filePath: folder + "/cut"))
      for name in ["flipped", "cut"] {
        let target = ["--path", folder + "/to-" + name]
        let refused = try await run(["restore", folder + "/" + name] + target)
        #expect(refused.code == 1 && refused.errors.contains("another copy"), "\(refused)")
        #expect(!FileManager.default.fileExists(atPath: target[1]))
        #expect(try await run(["verify", folder + "/" + name]).code == 1)
      }
    }
  }

  @Test("clients that saw later commits take the restored state, and their writes are made once")
  func returningClients() async throws {
    try await withFolder { folder in
      let server = try await ServerUnderTest(
        folder: folder, port: "\(try freePort())")
      let ann = try ChildProcess(
        ternBinary, ["shell", "--cache", folder + "/ann", "--server", server.address])
      func says(_ line: String) async throws {
        let found = await ann.output.line(within: patience) { $0 == line }
        try #require(found != nil, "no \(line): \(ann.output.history) \(ann.errors.history)")
      }
      try await says("ready")
      let add = #"set n {".sv":{"increment":1}}"#
      ann.send(add)
      try await says("acknowledged 1")
      let city = ["--cache", folder + "/cyd", "--server", server.address]
      #expect(try await run(["doc", "set", "cities/A", #"{"v":1}"#] + city).code == 0)
      #expect(try await server.tern("backup", folder + "/one").code == 0)

      ann.send(add)
      try await says("acknowledged 2")
      ann.send("set late 1")
      try await says("acknowledged 3")
      #expect(try await run(["doc", "set", "cities/A", #"{"v":2}"#] + city).code == 0)
      #expect(try await run(["doc", "set", "cities/B", #"{"v":2}"#] + city).code == 0)
      #expect(try await run(["doc", "query", "cities"] + city).output.count == 2)
      server.process.killNow()
      _ = await server.process.exitCode(within: patience)
      try await says("waiting")
      ann.send(add)
      try await says("stored 4 set n")

      #expect(
        try await run(["restore", folder + "/one", "--path", folder + "/new/data"]).code == 0)
      let other = try await ServerUnderTest(folder: folder + "/new", port: server.port)
      ann.send("settle")
      try await says("settled")
      // One before the backup, one that was pending; the one between is lost with its server.
      #expect(try await other.tern("get", "n").output == ["2"])
      ann.send("get n")
      try await says("value n 2")
      ann.send("get late")
      try await says("value late null")
      ann.send(add)
      try await says("acknowledged 5")
      #expect(try await other.tern("get", "n").output == ["3"])
      let cities = try await run(["doc", "query", "cities"] + city)
      #expect(cities.output == [#"cities/A {"v":1}"#], "\(cities)")
      #expect(try await run(["doc", "set", "cities/A", #"{"v":3}"#] + city).code == 0)
      #expect(try await other.tern("doc", "get", "cities/A").output.joined().contains("3"))
      ann.closeInput()
      #expect(await ann.exitCode(within: patience) == 0)
      #expect(await other.stop() == 0)
    }
  }

  @Test("a restore goes back to any version that a later backup's log reaches")
  func pointInTime() async throws {
    try await withServer { server, folder in
      #expect(try await server.tern("set", "n", "1").code == 0)
      let first = try await server.tern("backup", folder + "/one", "--json")
      let version = try #require(Self.version(in: first))
      for number in 2...5 {
        #expect(try await server.tern("set", "n", "\(number)").code == 0)
        #expect(try await server.tern("doc", "set", "c/d", #"{"n":\#(number)}"#).code == 0)
      }
      #expect(try await server.tern("backup", folder + "/two").code == 0)
      // Two commits after the first backup for each number.
      let at = ["--at", "\(version + 4)"]
      let files = [folder + "/two", folder + "/one"]
      let restored = try await run(["restore"] + files + at + ["--path", folder + "/back/data"])
      #expect(restored.code == 0, "\(restored)")
      #expect(try await run(["verify", "--path", folder + "/back/data"]).code == 0)
      let other = try await ServerUnderTest(folder: folder + "/back")
      #expect(try await other.tern("get", "n").output == ["3"])
      #expect(try await other.tern("doc", "get", "c/d").output.joined().contains("3"))
      #expect(await other.stop() == 0)
      let late = ["restore"] + files + ["--at", "2999-01-01T00:00:00Z", "--path", folder + "/l"]
      #expect(try await run(late).code == 2)
      let alone = ["restore", folder + "/one", "--at", "1000000", "--path", folder + "/m"]
      #expect(try await run(alone).code == 2)
    }
  }

  @Test("a database comes out of a backup under a new name, beside what is there")
  func renamedDatabases() async throws {
    try await withFolder { folder in
      let server = try await ServerUnderTest(folder: folder)
      #expect(try await server.tern("set", "a", "1").code == 0)
      #expect(try await server.tern("backup", folder + "/one").code == 0)
      #expect(try await server.tern("set", "a", "2").code == 0)
      #expect(await server.stop() == 0)
      let store = ["--path", folder + "/data"]
      let added = try await run(["restore", folder + "/one", "--as", "default=old"] + store)
      #expect(added.code == 0, "\(added)")
      let twice = try await run(["restore", folder + "/one", "--as", "default=old"] + store)
      #expect(twice.code == 1 && twice.errors.contains("already"), "\(twice)")
      let again = try await ServerUnderTest(folder: folder)
      #expect(try await again.tern("get", "a").output == ["2"])
      #expect(try await again.tern("get", "a", "--ns", "old").output == ["1"])
      #expect(await again.stop() == 0)
    }
  }

  @Test("a database that was deleted comes back under its name, with the rules that closed it")
  func databasesInPlace() async throws {
    try await withFolder { folder in
      let server = try await ServerUnderTest(folder: folder)
      let name = "projects/tern/databases/(default)"
      #expect(try await server.tern("set", "/", #"{"precious":{"x":1}}"#, "--yes").code == 0)
      #expect(try await server.tern("doc", "set", "cities/Oslo", #"{"people":10}"#).code == 0)
      #expect(try await server.tern("backup", folder + "/one").code == 0)
      #expect(try await server.tern("remove", "/", "--yes").code == 0)
      let deleted = try await server.tern("databases", "delete", name, "--yes")
      #expect(deleted.code == 0, "\(deleted)")
      #expect(try await server.tern("set", "live", #""later""#, "--ns", "before").code == 0)
      #expect(await server.stop() == 0)

      let store = ["--path", folder + "/data"]
      func restore(_ names: String) async throws -> Finished {
        try await run(["restore", folder + "/one", "--as", names] + store)
      }
      let occupied = try await restore("default=before")
      #expect(occupied.code == 1 && occupied.errors.contains("already"), "\(occupied)")
      for names in ["default=default", "\(name)=\(name)"] {
        let restored = try await restore(names)
        #expect(restored.code == 0, "\(restored)")
        let verified = try await run(["verify"] + store)
        #expect(verified.code == 0, "\(verified)")
      }
      let again = try await ServerUnderTest(folder: folder)
      #expect(try await again.tern("get", "precious/x").output == ["1"])
      #expect(try await again.tern("get", "live", "--ns", "before").output == [#""later""#])
      let city = try await again.tern("doc", "get", "cities/Oslo")
      #expect(city.output.joined().contains("10"), "\(city)")
      #expect(await again.stop() == 0)
    }
  }

  @Test("a backup that is asked to stop leaves no part of a file")
  func stopped() async throws {
    try await withFolder { folder in
      // The file is begun before the server is asked, which never answers.
      let (accepted, accept) = AsyncStream.makeStream(of: Void.self)
      let server = try SilentServer(greets: false) { accept.yield() }
      let child = try ChildProcess(
        ternBinary, ["backup", folder + "/one", "--server", "127.0.0.1:\(server.port)"])
      for await _ in accepted { break }
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      #expect(names.contains { $0.hasPrefix("one.") && $0.hasSuffix(".part") }, "\(names)")
      child.stop()
      #expect(await finish(child).code == 128 + SIGTERM)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
      withExtendedLifetime(server) {}
    }
  }

  @Test("kill -9 during a restore leaves nothing or the whole")
  func killedRestore() async throws {
    try await withServer { server, folder in
      let data = (0..<20_000).map { #""k\#($0)":"value \#($0)""# }.joined(separator: ",")
      try Data("{\(data)}".utf8).write(to: URL(filePath: folder + "/in.json"))
      #expect(try await server.tern("import", "big", folder + "/in.json").code == 0)
      #expect(try await server.tern("backup", folder + "/one").code == 0)
      let target = folder + "/killed"
      for step in 0..<4 {
        let child = try ChildProcess(
          ternBinary, ["restore", folder + "/one", "--path", target])
        // Ends it while it verifies, writes or renames: each time a little later.
        let code = await child.exitCode(within: .milliseconds(40 + 150 * step))
        if code == nil { child.killNow() }
        _ = await child.exitCode(within: patience)
        guard FileManager.default.fileExists(atPath: target + "/server") else { continue }
        let well = try await run(["verify", "--path", target])
        #expect(well.code == 0, "\(well)")
        try FileManager.default.removeItem(atPath: target + "/server")
      }
      #expect(try await run(["restore", folder + "/one", "--path", target]).code == 0)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: target) == ["server"])
    }
  }

  @Test("a backup while clients write is one moment")
  func oneMoment() async throws {
    try await withServer { server, folder in
      let writers = try (0..<3).map { number in
        let child = try ChildProcess(ternBinary, ["shell", "--server", server.address])
        for step in 0..<300 {
          child.send(#"update pairs {"a\#(number)":\#(step),"b\#(number)":\#(step)}"#)
        }
        return child
      }
      for number in 0..<3 {
        let file = folder + "/\(number)"
        #expect(try await server.tern("backup", file).code == 0)
        let path = folder + "/to\(number)/data"
        let made = try await run(["restore", file, "--same-epoch", "--path", path])
        #expect(made.code == 0, "\(made)")
        // The log leads to the state that was restored, row by row.
        #expect(try await run(["verify", "--path", path]).code == 0)
      }
      for child in writers {
        child.closeInput()
        #expect(await child.exitCode(within: patience) == 0)
      }
    }
  }

  @Test("a backup is for administrators")
  func strangers() async throws {
    try await withFolder { folder in
      let rules = folder + "/open.json"
      try Data(#"{"rules": {".read": true, ".write": true}}"#.utf8)
        .write(to: URL(filePath: rules))
      let server = try await ServerUnderTest(folder: folder, arguments: ["--rules", rules])
      defer { server.process.killNow() }
      let refused = try await server.tern("backup", folder + "/x")
      #expect(refused.code == 4 && refused.errors.contains("administrator"), "\(refused)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
    }
  }

  private static func version(in made: Finished) -> Int? {
    let text = made.output.first?.split(separator: #""version":"#).last?.prefix { $0.isNumber }
    return text.flatMap { Int($0) }
  }
}
