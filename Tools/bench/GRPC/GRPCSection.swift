#if TCP && os(Linux)
  import ArgumentParser
  import Foundation
  import TernCore
  import TernDocumentWire
  import TernQuery

  /// Clients of gRPC: unary calls beside a bare echo, durable commits, idle streams, and a query
  /// that streams many documents.
  enum GRPCSection {
    private static let streams = 64
    private static let seconds = 3.0
    private static let database = DocumentDatabase(unchecked: "bench")

    enum Part: String, CaseIterable, ExpressibleByArgument {
      case unary, commit, idle, query
    }

    static func run(only: Part?, documents: Int, rounds: Int) async throws -> [BenchLine] {
      var lines: [BenchLine] = []
      for part in Part.allCases where only ?? part == part {
        switch part {
        case .unary: lines += try await unary(rounds: rounds)
        case .commit: lines += try await commit(rounds: rounds)
        case .idle: lines += try idle()
        case .query: lines += try query(documents: documents)
        }
      }
      return lines
    }

    private static func key(_ id: String) -> DocumentKey { DocumentKey(unchecked: "rooms/\(id)") }

    /// - Parameter spread: The number of documents; those behind it are the first ones again.
    private static func commit(
      _ documents: Range<Int>, bytes: Int, spread: Int = .max
    ) -> [UInt8] {
      let text = DocumentValue.string(String(repeating: "x", count: bytes))
      let writes = documents.map { number in
        DocumentMutation(
          key("d\(number % spread)"), .set(["n": .integer(Int64(number)), "text": text]))
      }
      return DocumentRequest(.commit(writes, transaction: [], nil), in: database).encode()
    }

    /// `GetDocument` of one document with 64 streams under way, beside an echo of as many bytes by
    /// swift-nio-http2 alone.
    private static func unary(rounds: Int) async throws -> [BenchLine] {
      let folder = try BenchFolder()
      defer { folder.remove() }
      let server = try ChildServer.tree(in: folder.path)
      defer { server.stop() }
      let loader = try GRPCLoad(port: server.port)
      _ = try loader.call("Commit", commit(0..<1, bytes: 100))
      let get = DocumentRequest(.get(key("d0"), mask: nil, .now), in: database).encode()
      let answer = try loader.call("GetDocument", get)
      // The answer's bytes, with the frame around them, are what the echo returns.
      let echo = try ChildServer.start([BareHTTP2Server.command, "\(answer)"])
      defer { echo.stop() }
      var ours: [Double] = []
      var theirs: [Double] = []
      for _ in 0..<max(rounds, 1) {
        theirs.append(try GRPCLoad(port: echo.port).rate("GetDocument", get, streams, seconds))
        ours.append(try loader.rate("GetDocument", get, streams, seconds))
      }
      return [
        BenchLine(
          name: "gRPC GetDocument, 64 streams: bare echo", rate: BenchLine.median(ours),
          baseline: BenchLine.median(theirs), target: 0.5)
      ]
    }

    /// Durable commits of one document by 64 clients, beside the same over our own framing.
    private static func commit(rounds: Int) async throws -> [BenchLine] {
      let folder = try BenchFolder()
      defer { folder.remove() }
      let server = try ChildServer.tree(in: folder.path)
      defer { server.stop() }
      var ours: [Double] = []
      var theirs: [Double] = []
      let numbers = Counter()
      for _ in 0..<max(rounds, 1) {
        theirs.append(
          try FrameLoad(port: server.port, clients: streams).rate(seconds) {
            commit(numbers.next(), bytes: 100, spread: 50_000)
          })
        ours.append(
          try GRPCLoads(port: server.port, clients: streams).rate("Commit", seconds) {
            commit(numbers.next(), bytes: 100, spread: 50_000)
          })
      }
      return [
        BenchLine(
          name: "gRPC Commit, 64 clients: our framing", rate: BenchLine.median(ours),
          baseline: BenchLine.median(theirs), target: 0.7)
      ]
    }

    /// Hands out numbers, so that every commit changes a document: one that leaves it as it is
    /// writes nothing.
    private final class Counter {
      private var number = 0

      func next() -> Range<Int> {
        number += 1
        return number..<number + 1
      }
    }

    /// The memory of 10,000 listen streams over 100 connections that have nothing to tell.
    private static func idle() throws -> [BenchLine] {
      let folder = try BenchFolder()
      defer { folder.remove() }
      let server = try ChildServer.tree(in: folder.path)
      defer { server.stop() }
      let target = WatchTarget(
        id: 2,
        subject: .query(DocumentQuery.collection(CollectionPath(unchecked: "rooms")).target))
      let listen = DocumentRequest(.listen(.add(target)), in: database).encode()
      func open(_ connections: Int) throws -> [GRPCLoad] {
        try (0..<connections).map { _ in
          let load = try GRPCLoad(port: server.port)
          try load.listen(listen, streams: 100)
          return load
        }
      }
      // The first ones also pay for code that was never run before.
      var loads = try open(5)
      let before = server.residentBytes
      loads += try open(100)
      let bytes = (server.residentBytes - before) / 10_000
      print("idle gRPC listen streams: 10000 over 100 connections,", terminator: " ")
      print("\(bytes) bytes each at the server, limit 12288")
      withExtendedLifetime(loads) {}
      return [
        BenchLine(
          name: "1/KiB of an idle gRPC listen: 12", rate: 1_024 / Double(max(bytes, 1)) * 12,
          baseline: 1, target: 1)
      ]
    }

    /// The first document of a large result, and the memory that the result takes on its way.
    private static func query(documents: Int) throws -> [BenchLine] {
      let folder = try BenchFolder()
      defer { folder.remove() }
      let server = try ChildServer.tree(in: folder.path)
      defer { server.stop() }
      let load = try GRPCLoad(port: server.port)
      for start in stride(from: 0, to: documents, by: 500) {
        _ = try load.call("Commit", commit(start..<min(start + 500, documents), bytes: 100))
      }
      let query = DocumentQuery.collection(CollectionPath(unchecked: "rooms"))
      let request = DocumentRequest(.query(query, .now), in: database).encode()
      _ = try load.stream("RunQuery", request)
      var firsts: [Double] = []
      var rates: [Double] = []
      server.forgetPeak()
      let before = server.residentBytes
      for _ in 0..<5 {
        let result = try load.stream("RunQuery", request)
        firsts.append(result.firstMilliseconds)
        rates.append(Double(result.messages) / result.seconds)
      }
      let peak = max(server.peakBytes - before, 1)
      let first = BenchLine.median(firsts)
      print(
        "gRPC query of \(documents) documents: the first after \(BenchLine.tenths(first)) ms,",
        "\(Int(BenchLine.median(rates))) a second,",
        "peak \(BenchLine.tenths(Double(peak) / 1_048_576)) MiB above the data")
      return [
        BenchLine(
          name: "1/s of the first of a query: 5 ms", rate: 1_000 / first, baseline: 200, target: 1),
        BenchLine(
          name: "1/GiB of a query's peak: 16 MiB", rate: 1_073_741_824 / Double(peak),
          baseline: 64, target: 1),
      ]
    }
  }
#endif
