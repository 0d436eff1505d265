#if TCP
  import Foundation
  import TernTransport
  import TernTransportTCP

  /// The cost of TLS for links that carry small messages: the same echo in the clear and behind
  /// TLS.
  enum TLSSection {
    /// The number of messages under way at once: one that waits for its answer, a busy client, and
    /// a client that empties its queue.
    private static let windows = [1, 16, 64]
    private static let messageBytes = 128

    static func run(rounds: Int) async throws -> [BenchLine] {
      let folder = try BenchFolder()
      defer { folder.remove() }
      let (server, client) = try certificate(in: folder.path)
      var lines: [BenchLine] = []
      for window in windows {
        let load = Load(window: window, messages: window == 1 ? 40_000 : 400_000)
        var (clear, secured): ([Double], [Double]) = ([], [])
        for _ in 0..<max(rounds, 1) {
          clear.append(try await rate(nil, nil, load))
          secured.append(try await rate(server, client, load))
        }
        lines.append(
          BenchLine(
            name: "echo over TLS, \(window) under way: clear", rate: BenchLine.median(secured),
            baseline: BenchLine.median(clear), target: 0.7))
      }
      return lines
    }

    /// The messages of a measurement.
    private struct Load {
      let window: Int
      let messages: Int
    }

    private static func rate(
      _ server: TLSOptions?, _ client: TLSOptions?, _ load: Load
    ) async throws -> Double {
      var options = TCPOptions(port: 0)
      options.tls = server
      let far = try TCPTransport(options)
      let listener = try await far.listen { Echo($0) }
      options = TCPOptions(port: Int(listener.address.split(separator: ":").last ?? "") ?? 0)
      options.tls = client
      let near = try TCPTransport(options)
      let (done, finish) = AsyncStream<Void>.makeStream()
      let clock = ContinuousClock()
      let start = clock.now
      _ = try await near.connect { Caller($0, load, finish) }
      for await _ in done { break }
      let seconds = start.duration(to: clock.now) / .seconds(1)
      await near.shutdown()
      await far.shutdown()
      return Double(load.messages) / seconds
    }

    private static func certificate(in folder: String) throws -> (TLSOptions, TLSOptions) {
      var (server, client) = (TLSOptions(), TLSOptions())
      server.certificate = folder + "/cert.pem"
      server.key = folder + "/key.pem"
      client.roots = server.certificate
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = [
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
        "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
        "subjectAltName=IP:127.0.0.1", "-keyout", folder + "/key.pem", "-out",
        folder + "/cert.pem",
      ]
      process.standardError = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      return (server, client)
    }

    private final class Echo: LinkHandler {
      private let link: any Link
      init(_ link: any Link) { self.link = link }

      func linkDidReceive(_ frames: [[UInt8]]) {
        link.send(contentsOf: frames)
        link.flush()
      }

      func linkDidClose(_ reason: LinkClosure) {}
    }

    /// Keeps the window full until all messages have come back.
    ///
    /// `@unchecked Sendable` is sound because only the executor of its transport uses it.
    private final class Caller: LinkHandler, @unchecked Sendable {
      private let link: any Link
      private let finish: AsyncStream<Void>.Continuation
      private let message = [UInt8](repeating: 7, count: TLSSection.messageBytes)
      private var unsent: Int
      private var unanswered: Int

      init(_ link: any Link, _ load: Load, _ finish: AsyncStream<Void>.Continuation) {
        self.link = link
        self.finish = finish
        unanswered = load.messages
        unsent = load.messages
        send(load.window)
      }

      private func send(_ count: Int) {
        let count = min(count, unsent)
        unsent -= count
        link.send(contentsOf: Array(repeating: message, count: count))
        link.flush()
      }

      func linkDidReceive(_ frames: [[UInt8]]) {
        unanswered -= frames.count
        if unanswered == 0 { finish.yield(()) }
        send(frames.count)
      }

      func linkDidClose(_ reason: LinkClosure) {}
    }
  }
#endif
