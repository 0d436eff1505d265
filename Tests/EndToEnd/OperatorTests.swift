#if canImport(Glibc)
  import Foundation
  import Testing

  @testable import tern

  @Suite("a server under an operator") struct OperatorTests {
    private func get(
      _ path: String, _ server: ServerUnderTest, _ method: String = "GET", body: String = ""
    ) throws -> String {
      let port = try #require(UInt16(server.port))
      let request =
        "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
      let bytes = try sendBytes(Array(request.utf8), toPort: port, endingOutput: false)
      return String(decoding: bytes, as: UTF8.self)
    }

    @Test("metrics, status and health are served on the server's own port")
    func scrape() async throws {
      try await withServer { server, _ in
        #expect(try get("/-/healthz", server).hasPrefix("HTTP/1.1 200"))
        #expect(try get("/-/readyz", server).hasPrefix("HTTP/1.1 200"))
        #expect(try get("/a.json", server, "PUT", body: "1").hasPrefix("HTTP/1.1 200"))
        let metrics = try get("/-/metrics", server)
        for name in [
          #"tern_writes_total{model="tree",outcome="accepted"} 1"#, "tern_store_bytes ",
          "tern_store_free_bytes ", "process_resident_memory_bytes ", "process_open_fds ",
          "process_cpu_seconds_total ", "tern_log_bytes ",
          #"tern_cache_hits_total{cache="pages"} "#,
          #"tern_cache_misses_total{cache="credentials"} 0"#,
        ] {
          #expect(metrics.contains("\n" + name), "\(name) in \(metrics)")
        }
        let status = try get("/-/status", server)
        #expect(status.contains(#""version":"0.1.0","state":"serving""#), "\(status)")
        #expect(await server.stop() == 0)
      }
    }

    @Test(
      "the dashboard and the alerts of the guide name metrics that there are",
      arguments: ["dashboard.json", "alerts.yml"])
    func guide(_ name: String) async throws {
      let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
      let text = try String(
        contentsOf: root.appending(path: "Docs/Guides/monitoring/" + name), encoding: .utf8)
      if name.hasSuffix("json") {
        #expect((try JSONSerialization.jsonObject(with: Data(text.utf8))) is [String: Any])
      }
      let names = Swift.Set(
        text.matches(of: /\b(?:tern|process)_[a-z_]+/).map { String($0.output) })
      #expect(names.count > 8)
      try await withServer { server, _ in
        let metrics = try get("/-/metrics", server)
        // Those of clusters are told by their nodes alone.
        for name in names where !name.hasPrefix("tern_cluster_") {
          #expect(metrics.contains("\n\(name)"), "no metric is named \(name)")
        }
        #expect(await server.stop() == 0)
      }
    }

    @Test("SIGTERM tells clients, and ends the server within its grace")
    func drain() async throws {
      try await withServer { server, _ in
        let watcher = try ChildProcess(
          ternBinary, ["watch", "a", "--value", "--server", server.address])
        defer { watcher.killNow() }
        _ = try await server.tern("set", "a", "1")
        #expect(await watcher.output.line(within: patience) { $0.contains("1") } != nil)
        #expect(await server.stop() == 0)
        #expect(server.process.output.history.last == "stopped")
        #expect(
          await watcher.errors.line(within: patience) {
            $0.contains("connect again") || $0.contains("cannot be reached")
          }
            != nil)
      }
    }

    @Test("SIGHUP brings other limits and another level of the log in force")
    func reload() async throws {
      try await withFolder { folder in
        let config = folder + "/tern.json"
        try write(#"{"limits": {}, "log": {"level": "error"}}"#, to: config)
        let server = try await ServerUnderTest(folder: folder, arguments: ["--config", config])
        defer { server.process.killNow() }
        for _ in 0..<10 { #expect(try get("/a.json", server).hasPrefix("HTTP/1.1 200")) }
        try write(
          #"{"limits": {"requestsPerAddress": 1, "burstSeconds": 1}, "log": {"level": "info", "access": true}}"#,
          to: config)
        kill(server.process.processID, SIGHUP)
        var answer = ""
        while !answer.hasPrefix("HTTP/1.1 429") { answer = try get("/a.json", server) }
        #expect(answer.contains("Retry-After: "), "\(answer)")
        let line = await server.process.errors.line(within: patience) {
          $0.contains("GET /a.json 429")
        }
        #expect(line?.contains("address=127.0.0.1") == true, "\(line ?? "")")
        #expect(await server.stop() == 0)
      }
    }

    @Test("SIGHUP with a mistake in the configuration changes nothing, and says which it is")
    func mistakenReload() async throws {
      try await withFolder { folder in
        let config = folder + "/tern.json"
        try write(#"{"log": {"level": "info"}}"#, to: config)
        let server = try await ServerUnderTest(folder: folder, arguments: ["--config", config])
        defer { server.process.killNow() }
        for (text, reason) in [(#"{"log": {"level": "loud"}}"#, "level"), ("{{", "1:2")] {
          try write(text, to: config)
          kill(server.process.processID, SIGHUP)
          let line = await server.process.errors.line(within: patience) {
            $0.contains("nothing of it has changed") && $0.contains(reason)
          }
          #expect(line != nil, "\(reason): \(server.process.errors.history)")
        }
        #expect(await server.stop() == 0)
      }
    }

    @Test("SIGHUP brings another limit on memory in force, and the log of writes")
    func reloadMemory() async throws {
      try await withFolder { folder in
        let config = folder + "/tern.json"
        try write(#"{"limits": {"memoryBytes": 67108864}}"#, to: config)
        let server = try await ServerUnderTest(
          folder: folder, arguments: ["--config", config, "--dev"])
        defer { server.process.killNow() }
        func limit() async throws -> String {
          let status = try await server.tern("status", "--json")
          #expect(status.code == 0, "\(status)")
          return status.output.joined()
        }
        #expect(try await limit().contains(#""limitBytes":67108864"#))
        try write(
          #"{"limits": {"memoryBytes": 33554432}, "log": {"writes": true}}"#, to: config)
        kill(server.process.processID, SIGHUP)
        var tries = 0
        while try await !limit().contains(#""limitBytes":33554432"#), tries < 1_000 { tries += 1 }
        #expect(tries < 1_000, "the limit stays as it was")
        #expect(try await server.tern("set", "a", "1").code == 0)
        let line = await server.process.errors.line(within: patience) {
          $0.contains("write tree accepted")
        }
        for field in ["waited=", "judged=", "stored=", "told="] {
          #expect(line?.contains(field) == true, "\(line ?? "")")
        }
        #expect(await server.stop() == 0)
      }
    }

    @Test("rules for documents are deployed, checked and read like those of a tree")
    func documentRules() async throws {
      try await withServer { server, folder in
        let rules = folder + "/own.rules"
        func text(_ condition: String) -> String {
          """
          rules_version = '2';
          service cloud.firestore {
            match /databases/{database}/documents {
              match /{document=**} { allow read; allow write: if \(condition); }
            }
          }
          """
        }
        let target = ["--documents", "projects/tern/databases/(default)"]
        func deploy(_ more: [String]) async throws -> (code: Int32?, errors: String) {
          let done = try await run(
            ["rules", "deploy", rules, "--server", server.address] + more)
          return (done.code, done.errors)
        }
        try write(text("false"), to: rules)
        let nowhere = try await deploy([])
        #expect(nowhere.code == 2 && nowhere.errors.contains("--documents"), "\(nowhere)")
        #expect(try await deploy(target + ["--dry-run"]).code == 0)
        #expect(try await server.tern("doc", "set", "a/b", "{}").code == 0)
        #expect(try await deploy(target).code == 0)
        #expect(try await server.tern("doc", "set", "a/b", "{}").code == 4)
        let kept = try await run(["rules", "get", "--server", server.address] + target)
        #expect(kept.output.joined().contains("allow write: if false"), "\(kept)")
        try write(text("nonsense("), to: rules)
        let wrong = try await deploy(target)
        #expect(wrong.code == 2, "\(wrong)")
        try write(#"{"rules": {}}"#, to: rules)
        let tree = try await deploy(target)
        #expect(tree.code == 2 && tree.errors.contains("--documents"), "\(tree)")
      }
    }

    @Test("lines are JSON away from terminals, without the credentials of a request")
    func jsonLines() async throws {
      try await withFolder { folder in
        let server = try ChildProcess(
          "/bin/sh",
          [
            "-c",
            #"TERN_LOG_FORMAT=json TERN_LOG_ACCESS=true exec "$0" serve --dev --path "$1/data" --port 0"#,
            ternBinary, folder,
          ])
        defer { server.killNow() }
        let beginning = "listening on "
        let told = await server.output.line(within: patience) { $0.hasPrefix(beginning) }
        let port = try #require(told?.split(separator: ":").last.flatMap { UInt16($0) })
        let request =
          "GET /a.json?auth=secret HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        try sendBytes(Array(request.utf8), toPort: port, endingOutput: false)
        let line = await server.errors.line(within: patience) { $0.contains("GET /a.json") }
        let object = try JSONSerialization.jsonObject(with: Data(#require(line).utf8))
        let members = try #require(object as? [String: String])
        #expect(members["level"] == "info")
        #expect(members["time"]?.hasSuffix("Z") == true)
        #expect(members["address"] == "127.0.0.1")
        server.stop()
        _ = await server.exitCode(within: patience)
        #expect(!server.errors.history.contains { $0.contains("secret") })
      }
    }

    @Test("the service manager is told of the beginning, reloads, life and the end")
    func notify() async throws {
      try await withFolder { folder in
        let path = folder + "/notify"
        let socket = try #require(datagramSocket(at: path))
        defer { close(socket) }
        let server = try ChildProcess(
          "/bin/sh",
          [
            "-c",
            #"NOTIFY_SOCKET="$1/notify" WATCHDOG_USEC=200000 exec "$0" serve --dev --path "$1/data" --port 0"#,
            ternBinary, folder,
          ])
        defer { server.killNow() }
        var told: [String] = []
        func wait(for text: String) {
          while !told.contains(where: { $0.contains(text) }) {
            guard let datagram = receive(from: socket) else {
              Issue.record("\(text) was not told: \(told)")
              return
            }
            told.append(datagram)
          }
        }
        wait(for: "READY=1")
        wait(for: "WATCHDOG=1")
        told = []
        kill(server.processID, SIGHUP)
        wait(for: "RELOADING=1\nMONOTONIC_USEC=")
        wait(for: "READY=1")
        server.stop()
        wait(for: "STOPPING=1")
        #expect(await server.exitCode(within: patience) == 0)
      }
    }

    @Test("--check says for each part if a server would start with it")
    func check() async throws {
      try await withFolder { folder in
        let good = try await run(["serve", "--check", "--path", folder + "/data", "--port", "0"])
        #expect(good.code == 0, "\(good)")
        #expect(good.output.contains("store: ok") && good.output.contains("port: ok"), "\(good)")
        #expect(!FileManager.default.fileExists(atPath: folder + "/data"))
        let server = try await ServerUnderTest(folder: folder)
        defer { server.process.killNow() }
        let busy = try await run([
          "serve", "--check", "--path", folder + "/data", "--port", server.port,
        ])
        #expect(busy.code == 0, "\(busy)")
        for part in ["port", "store"] {
          let line = "\(part): not checked, a running server holds it"
          #expect(busy.output.contains(line), "\(busy)")
        }
        let other = try await run([
          "serve", "--check", "--path", folder + "/other", "--port", server.port,
        ])
        #expect(other.code == 1, "\(other)")
        #expect(
          other.output.contains { $0.hasPrefix("port: ") && $0.contains("in use") }, "\(other)")
        let wrong = try write(#"{"log": {"level": "loud"}}"#, to: folder + "/wrong.json")
        let refused = try await run(["serve", "--check", "--config", wrong])
        #expect(refused.code == 2 && refused.errors.contains("loud"), "\(refused)")
      }
    }

    @Test("operators have a listener of their own when they ask for one")
    func adminListener() async throws {
      try await withFolder { folder in
        let config = try write(#"{"admin": {"port": 0}}"#, to: folder + "/tern.json")
        let process = try ChildProcess(
          ternBinary,
          ["serve", "--config", config, "--path", folder + "/data", "--port", "0"])
        defer { process.killNow() }
        let beginning = "for operators: http://127.0.0.1:"
        let line = await process.output.line(within: patience) { $0.hasPrefix(beginning) }
        let port = try #require(
          line.flatMap { UInt16($0.dropFirst(beginning.count).prefix { $0 != "/" }) })
        let request = "GET /-/metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        let bytes = try sendBytes(Array(request.utf8), toPort: port, endingOutput: false)
        #expect(String(decoding: bytes, as: UTF8.self).contains("\ntern_uptime_seconds "))
        process.stop()
        #expect(await process.exitCode(within: patience) == 0)
      }
    }

    @discardableResult
    private func write(_ text: String, to path: String) throws -> String {
      try Data(text.utf8).write(to: URL(filePath: path))
      return path
    }

    private func receive(from socket: Int32) -> String? {
      var bytes = [UInt8](repeating: 0, count: 4_096)
      let count = unsafe recv(socket, &bytes, bytes.count, 0)
      return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }

    /// A socket of datagrams at a path, whose reads give up after a minute.
    private func datagramSocket(at path: String) -> Int32? {
      let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      let name = Array(path.utf8)
      guard descriptor >= 0, name.count < 100 else { return nil }
      unsafe withUnsafeMutableBytes(of: &address.sun_path) { room in
        for (index, byte) in name.enumerated() { unsafe room[index] = byte }
      }
      let size = socklen_t(MemoryLayout<sockaddr_un>.size)
      let bound = unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe bind(descriptor, $0, size)
        }
      }
      var time = timeval(tv_sec: 60, tv_usec: 0)
      let length = socklen_t(MemoryLayout<timeval>.size)
      guard bound == 0,
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, length) == 0
      else { return nil }
      return descriptor
    }
  }
#endif
