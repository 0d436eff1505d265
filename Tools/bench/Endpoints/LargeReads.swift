#if TCP
  import Foundation
  import TernCore
  import TernTransport
  import TernTransportTCP
  import TernTreeWire

  /// The memory that a server needs to send a node of 100 MB, and to receive one of 40 MB.
  ///
  /// The server is a process of its own on a store on disk. What counts is the most that was
  /// resident during a request above what was resident before it. Readers are `curl`, which must be
  /// installed: as fast as they can, slow, and several at once.
  enum LargeReads {
    private static let limitBytes = 16 << 20
    private static let groups = 100
    private static let writtenGroups = 40

    static func run() async throws {
      let folder = try BenchFolder()
      defer { folder.remove() }
      let server = try ChildServer.tree(in: folder.path)
      defer { server.stop() }
      let bytes = try await fill(server)
      print(
        "a node of \(bytes >> 20) MiB, peak above what the server had before, limit 16.0 MiB a request"
      )
      // Code that was never run before is not what is measured.
      try measure("first of all", 1, Reader(server, path: "big/0.json"), on: server)
      let plain = Reader(server, path: "big.json", wantedBytes: bytes)
      let events = Reader(
        server, path: "big.json", ["--header", "Accept: text/event-stream"], wantedBytes: bytes)
      try measure("GET", 1, plain, on: server)
      try measure("GET, 8 at once", 8, plain, on: server)
      try measure("GET by a slow reader", 1, plain.slow, on: server)
      try measure("GET by slow readers, 8 at once", 8, plain.slow, on: server)
      try measure("server-sent events", 1, events, on: server)
      try measure("server-sent events to a slow reader", 1, events.slow, on: server)
      try write(server, folder.path)
    }

    /// One request, and how much of its answer is waited for.
    private struct Reader {
      var arguments: [String]
      var wantedBytes: Int

      init(_ server: ChildServer, path: String, _ more: [String] = [], wantedBytes: Int = 1) {
        arguments =
          ["curl", "--silent", "--no-buffer"] + more
          + ["http://127.0.0.1:\(server.port)/\(path)?ns=default"]
        self.wantedBytes = wantedBytes
      }

      /// The same, at 25 MB a second.
      var slow: Reader {
        var slow = self
        slow.arguments.insert(contentsOf: ["--limit-rate", "25M"], at: 1)
        return slow
      }

      func start() throws -> (process: Process, output: FileHandle) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        return (process, pipe.fileHandleForReading)
      }
    }

    private static func measure(
      _ name: String, _ count: Int, _ reader: Reader, on server: ChildServer
    ) throws {
      let before = server.residentBytes
      server.forgetPeak()
      let clock = ContinuousClock()
      let start = clock.now
      let readers = try (0..<count).map { _ in try reader.start() }
      // A pipe that is not emptied stalls its reader, so all are emptied at once.
      let group = DispatchGroup()
      for (_, output) in readers {
        DispatchQueue.global().async(group: group) {
          var left = reader.wantedBytes
          while left > 0 {
            let part = output.availableData
            if part.isEmpty { break }
            left -= part.count
          }
        }
      }
      group.wait()
      for (process, _) in readers {
        // What it inherited may keep a gentler signal from it.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
      }
      let each = Double(server.peakBytes - before) / Double(count) / 1_048_576
      let seconds = Double((clock.now - start) / .milliseconds(1)) / 1_000
      print(
        "  \(name): \(BenchLine.tenths(each)) MiB a request, \(BenchLine.tenths(seconds)) s",
        each * 1_048_576 <= Double(limitBytes) ? "ok" : "miss")
    }

    /// Measures the memory that a large write holds, beside the bytes of its body.
    private static func write(_ server: ChildServer, _ folder: String) throws {
      let members = (0..<writtenGroups).map { "\"\($0)\":\(group($0).json(.value))" }
      let body = Data(("{" + members.joined(separator: ",") + "}").utf8)
      let file = folder + "/body.json"
      try body.write(to: URL(fileURLWithPath: file))
      let before = server.residentBytes
      server.forgetPeak()
      let reader = Reader(
        server, path: "copy.json",
        ["--request", "PUT", "--data-binary", "@" + file, "--header", "Expect:"])
      var silent = reader
      silent.arguments[silent.arguments.count - 1] += "&print=silent"
      let (process, output) = try silent.start()
      _ = try output.readToEnd()
      process.waitUntilExit()
      let times = Double(server.peakBytes - before) / Double(body.count)
      print("  PUT of \(body.count >> 20) MiB: \(BenchLine.tenths(times)) times its body")
    }

    /// Writes 100 groups of 1,000 texts; how many bytes they are as JSON.
    private static func fill(_ server: ChildServer) async throws -> Int {
      let transport = try TCPPlugin.open(TCPOptions(port: server.port))
      var client = try await FrameClient(transport)
      var bytes = 0
      for number in 0..<groups {
        let node = group(number)
        bytes += node.jsonBytes(.value).count
        _ = try await client.request(
          .put(try TreePath("big/\(number)"), node, expectedHash: nil, WriteHeader()))
      }
      await transport.shutdown()
      return bytes
    }

    private static func group(_ number: Int) -> TreeNode {
      let text = String(repeating: "abcdefghij", count: 104)
      let children = (0..<1_000).map { index in
        (
          key: TreeKey(unchecked: "k\(10_000 + index)"),
          node: TreeNode(.string("\(number) \(index) \(text)"))
        )
      }
      return TreeNode(children: ChildMap(unsorted: children))
    }
  }
#endif
