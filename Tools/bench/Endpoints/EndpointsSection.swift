#if TCP
  import ArgumentParser
  import Foundation

  /// The endpoints of foreign clients: how much an idle WebSocket costs, events over WebSocket
  /// beside our own framing, and small reads over REST beside a server that answers a constant.
  ///
  /// Reads are asked for by `wrk`, which must be installed.
  enum EndpointsSection {
    enum Part: String, CaseIterable, ExpressibleByArgument {
      case idle, events, reads
    }

    static func run(only: Part?, rounds: Int) async throws -> [BenchLine] {
      var lines: [BenchLine] = []
      if only ?? .idle == .idle { try await idle(10_000) }
      if only ?? .events == .events { lines.append(try await events(rounds)) }
      if only ?? .reads == .reads { lines.append(try await reads(rounds)) }
      return lines
    }

    /// Opens `count` connections and prints how much the server's memory grew by each.
    private static func idle(_ count: Int) async throws {
      let folder = try BenchFolder()
      defer { folder.remove() }
      let server = try ChildServer.tree(in: folder.path)
      defer { server.stop() }
      let sockets = IdleSockets(port: server.port)
      // The first ones also pay for code that was never run before.
      try await sockets.open(100)
      let before = server.residentBytes
      try await sockets.open(count)
      let bytes = (server.residentBytes - before) / count
      print("idle WebSockets: \(count), \(bytes) bytes each at the server, limit 20480")
      try await sockets.close()
    }

    /// One writer, 1,000 listeners of one path.
    private static func events(_ rounds: Int) async throws -> BenchLine {
      var rates: [String: [Double]] = [:]
      for _ in 0..<rounds {
        for kind in ["native", "websocket"] {
          let folder = try BenchFolder()
          defer { folder.remove() }
          let server = try ChildServer.tree(in: folder.path)
          defer { server.stop() }
          let language =
            kind == "native"
            ? try FanOutProtocol.tree(payloadBytes: 100)
            : try FanOutProtocol.webSocket(payloadBytes: 100)
          let client = FanOutClient(server: server, subscribers: 1_000, language: language)
          let result = try await client.run(messages: 2_000, paced: 10, perSecond: 50)
          rates[kind, default: []].append(result.deliveriesPerSecond)
        }
      }
      return BenchLine(
        name: "events over WebSocket: our framing",
        rate: BenchLine.median(rates["websocket"] ?? [0]),
        baseline: BenchLine.median(rates["native"] ?? [0]), target: 0.6)
    }

    /// `GET` of a small value, with 16 connections that are kept.
    private static func reads(_ rounds: Int) async throws -> BenchLine {
      let folder = try BenchFolder()
      defer { folder.remove() }
      let server = try ChildServer.tree(in: folder.path)
      defer { server.stop() }
      let bare = try ChildServer.start([BareHTTPServer.command])
      defer { bare.stop() }
      try put(at: server.port)
      var (ours, theirs): ([Double], [Double]) = ([], [])
      for _ in 0..<rounds {
        theirs.append(try requestsPerSecond(at: bare.port))
        ours.append(try requestsPerSecond(at: server.port))
      }
      let line = BenchLine(
        name: "GET over REST: constant by swift-nio", rate: BenchLine.median(ours),
        baseline: BenchLine.median(theirs), target: 0.5)
      print("GET over REST: \(Int(line.rate)) a second, wanted 15000")
      return line
    }

    private static let path = "/berths/a1.json?ns=default"

    private static func put(at port: Int) throws {
      _ = try output(
        of: [
          "curl", "--silent", "--fail", "-X", "PUT", "--data", BareHTTPServer.body,
          "http://127.0.0.1:\(port)\(path)",
        ])
    }

    private static func requestsPerSecond(at port: Int) throws -> Double {
      let report = try output(
        of: ["wrk", "--threads", "1", "--connections", "16", "--duration", "5s"]
          + ["http://127.0.0.1:\(port)\(path)"])
      let lines = report.split(separator: "\n")
      if let bad = lines.first(where: { $0.contains("Non-2xx") || $0.contains("Socket errors") }) {
        throw LoadError(text: String(bad))
      }
      guard let line = lines.first(where: { $0.hasPrefix("Requests/sec:") }),
        let rate = line.split(separator: " ").last.flatMap({ Double($0) })
      else { throw LoadError(text: "wrk said no rate: \(report)") }
      return rate
    }

    private static func output(of command: [String]) throws -> String {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = command
      let pipe = Pipe()
      process.standardOutput = pipe
      try process.run()
      let data = pipe.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      guard process.terminationStatus == 0 else {
        throw LoadError(text: "\(command[0]) ended with \(process.terminationStatus)")
      }
      return String(decoding: data, as: UTF8.self)
    }

    /// The reason a load could not be made.
    struct LoadError: Error {
      let text: String
    }
  }
#endif
