import Foundation
import Testing

@testable import tern

@Suite("stores that fail, and what keeps them small and whole") struct StoreFailureTests {
  /// The library that lets syncs fail, as the attacks have it; `nil` without a C compiler.
  private static func library(in folder: String) async throws -> String? {
    let source = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Tools/attacks/preload.c").standardizedFileURL.path
    let library = folder + "/preload.so"
    for compiler in ["/usr/bin/cc", "/usr/bin/clang", "/usr/bin/gcc"]
    where FileManager.default.isExecutableFile(atPath: compiler) {
      let built = try await run(
        ["-O1", "-shared", "-fPIC", "-o", library, source, "-ldl", "-lpthread"],
        program: compiler)
      return built.code == 0 ? library : nil
    }
    return nil
  }

  @Test(
    "after a failed sync the server ends with code 74, and starts again with what was durable",
    arguments: ["sqlite", "lmdb"])
  func failedSync(storage: String) async throws {
    try await withFolder { folder in
      guard let library = try await Self.library(in: folder) else { return }
      let trigger = folder + "/syncs-fail"
      var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("TERN_") }
      environment["LD_PRELOAD"] = library
      environment["ATTACK_FAIL_SYNC"] = trigger
      let store = ["--path", folder + "/data", "--storage", storage]
      let process = try ChildProcess(
        ternBinary, ["serve", "--dev", "--port", "0"] + store, environment: environment)
      defer { process.killNow() }
      let beginning = "listening on "
      let line = await process.output.line(within: patience) { $0.hasPrefix(beginning) }
      let address = try #require(line, "\(process.errors.history)").dropFirst(beginning.count)
      let server = ["--server", String(address)]
      let stored = try await run(["set", "a", "1"] + server)
      #expect(stored.code == 0, "\(stored)")
      _ = FileManager.default.createFile(atPath: trigger, contents: nil)
      let lost = try await run(["set", "b", "2", "--timeout", "3"] + server)
      #expect(lost.code != 0, "\(lost)")
      #expect(await process.exitCode(within: patience) == 74, "\(process.errors.history)")
      try FileManager.default.removeItem(atPath: trigger)

      let again = try await ServerUnderTest(folder: folder, arguments: ["--storage", storage])
      #expect(try await again.tern("get", "a").output == ["1"])
      #expect(try await again.tern("set", "b", "3").code == 0)
      #expect(await again.stop() == 0)
    }
  }

  @Test(
    "compact gives the space of deleted data back, and keeps the rest",
    arguments: ["sqlite", "lmdb"])
  func compact(storage: String) async throws {
    try await withFolder { folder in
      let kind = ["--storage", storage]
      let server = try await ServerUnderTest(folder: folder, arguments: kind)
      let text = String(repeating: "x", count: 60_000)
      let rows = (0..<40).map { "\"r\($0)\":\"\(text)\"" }.joined(separator: ",")
      let filled = try await server.tern("set", "rows", "-", input: "{\(rows)}")
      #expect(filled.code == 0, "\(filled)")
      #expect(try await server.tern("set", "kept", "1").code == 0)
      #expect(try await server.tern("remove", "rows").code == 0)
      let running = try await run(["compact", "--path", folder + "/data"] + kind)
      #expect(running.code == 1 && !running.errors.isEmpty, "\(running)")
      #expect(await server.stop() == 0)

      let done = try await run(["compact", "--path", folder + "/data"] + kind)
      let words = try #require(done.output.last, "\(done)").split(separator: " ")
      let numbers = words.compactMap { Int($0) }
      #expect(done.code == 0 && numbers.count == 2, "\(done)")
      // LMDB holds some space back inside the file, SQLite beside it.
      #expect(numbers.first ?? 0 - (numbers.last ?? 0) > 2_000_000, "\(done)")
      let folderOfStore = folder + "/data/server"
      for name in try FileManager.default.contentsOfDirectory(atPath: folderOfStore) {
        let bytes = try Data(contentsOf: URL(filePath: folderOfStore + "/" + name))
        #expect(bytes.range(of: Data(text.utf8.prefix(100))) == nil, "\(name) keeps deleted data")
      }
      let again = try await ServerUnderTest(folder: folder, arguments: kind)
      #expect(try await again.tern("get", "/").output.joined().contains("kept"))
      #expect(await again.stop() == 0)
      let verified = try await run(["verify", "--path", folder + "/data"] + kind)
      #expect(verified.code == 0, "\(verified)")
    }
  }

  @Test(
    "verify reads the queue and the cache of a client, and finds a damaged byte",
    arguments: ["sqlite", "lmdb"])
  func verifyCache(storage: String) async throws {
    try await withFolder { folder in
      let cache = folder + "/cache"
      let kind = ["--storage", storage]
      let missing = try await run(["verify", "--cache", cache] + kind)
      #expect(missing.code == 5 && missing.errors.contains("client's"), "\(missing)")
      let server = try await ServerUnderTest(folder: folder)
      let text = String(repeating: "damaged", count: 300)
      let flags = ["--cache", cache, "--server", server.address] + kind
      #expect(try await run(["set", "a", "\"\(text)\""] + flags).code == 0)
      #expect(try await run(["get", "a"] + flags).code == 0)
      #expect(await server.stop() == 0)
      // Without a server it stays in the queue.
      #expect(try await run(["set", "b", "\"\(text)\""] + flags).code == 0)

      let well = try await run(["verify", "--cache", cache] + kind)
      #expect(well.code == 0, "\(well)")
      for name in ["queue", "cache"] {
        #expect(
          well.output.contains { $0.hasPrefix(name + ":") && $0.hasSuffix("all well") }, "\(well)")
      }
      let file = URL(
        filePath: cache + "/queue/" + (storage == "sqlite" ? "rows.sqlite" : "rows.mdb"))
      var bytes = try Data(contentsOf: file)
      // LMDB leaves older copies in pages that are free.
      var from = bytes.startIndex
      while let place = bytes[from...].range(of: Data(text.utf8)) {
        bytes[place.lowerBound] ^= 3
        from = place.upperBound
      }
      #expect(from > bytes.startIndex)
      try bytes.write(to: file)
      let corrupt = try await run(["verify", "--cache", cache] + kind)
      #expect(corrupt.code == 1, "\(corrupt)")
      #expect(corrupt.output.contains { $0.hasPrefix("queue: ") && !$0.hasSuffix("all well") })
      #expect(corrupt.output.contains { $0.hasPrefix("cache: ") && $0.hasSuffix("all well") })
    }
  }

  @Test("a store of the first format is served with a notice, until it is compacted")
  func oldFormat() async throws {
    try await withFolder { folder in
      let store = folder + "/data/server"
      try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
      let program = """
        import sqlite3, sys
        store = sqlite3.connect(sys.argv[1])
        store.execute("PRAGMA journal_mode = WAL")
        store.execute("PRAGMA application_id = \(0x5465_726E)")
        store.execute("PRAGMA user_version = 1")
        store.execute(
          "CREATE TABLE rows (key BLOB PRIMARY KEY NOT NULL, record BLOB NOT NULL) WITHOUT ROWID")
        store.commit()
        """
      let made = try await run(
        ["-c", program, store + "/rows.sqlite"], program: "/usr/bin/python3")
      try #require(made.code == 0, "\(made)")
      let server = try await ServerUnderTest(folder: folder)
      #expect(try await server.tern("set", "a", "1").code == 0)
      #expect(await server.stop() == 0)
      #expect(
        server.process.errors.history.contains { $0.contains("tern compact") },
        "\(server.process.errors.history)")
      let path = ["--path", folder + "/data"]
      #expect(try await run(["verify"] + path).errors.contains("tern compact"))
      #expect(try await run(["compact"] + path).code == 0)
      let verified = try await run(["verify"] + path)
      #expect(verified.code == 0 && !verified.errors.contains("tern compact"), "\(verified)")
      let again = try await ServerUnderTest(folder: folder)
      #expect(try await again.tern("get", "a").output == ["1"])
      #expect(await again.stop() == 0)
      #expect(!again.process.errors.history.contains { $0.contains("tern compact") })
    }
  }
}
