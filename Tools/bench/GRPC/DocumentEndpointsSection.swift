#if TCP && os(Linux)
  import ArgumentParser
  import Foundation

  /// One writer and 1,000 listeners of one query over gRPC, over WebChannel, and under rules that
  /// read a document, beside the same over our own framing without rules.
  enum DocumentEndpointsSection {
    private static let listeners = 1_000
    /// Few enough that a page over WebChannel need not acknowledge any: two arrays each, with those
    /// before, are less than ``WebChannelLimits/keptArrays``.
    private static let messages = 300
    private static let payloadBytes = 100

    enum Part: String, CaseIterable, ExpressibleByArgument {
      case grpc, webchannel, rules
    }

    /// A way to the same documents.
    private struct Endpoint {
      let name: String
      /// The least part of the baseline's events.
      let target: Double
      /// The words behind the command that starts the server.
      var words: [String] = []
      let language: FanOutProtocol
    }

    static func run(only: Part?, rounds: Int) async throws -> [BenchLine] {
      let own = try FanOutProtocol.documents(payloadBytes: payloadBytes)
      let endpoints = [
        Endpoint(
          name: "grpc", target: 0.5,
          language: try .grpcDocuments(payloadBytes: payloadBytes)),
        Endpoint(
          name: "webchannel", target: 0.5,
          language: try .webChannel(payloadBytes: payloadBytes)),
        // Nothing is judged again, and so rules cost an event nothing that can be measured.
        Endpoint(name: "rules", target: 0.9, words: [ServedTree.ruled], language: own),
      ].filter { only == nil || only?.rawValue == $0.name }
      let baseline = Endpoint(name: "own", target: 1, language: own)
      var rates: [String: [Double]] = [:]
      for _ in 0..<rounds {
        for endpoint in [baseline] + endpoints {
          let result = try await measure(endpoint)
          rates[endpoint.name, default: []].append(result.deliveriesPerSecond)
          print(
            "\(endpoint.name): \(Int(result.deliveriesPerSecond)) events/s to \(listeners),",
            "\(Int(result.serverNanoseconds)) ns of the server each")
        }
      }
      return endpoints.map { endpoint in
        BenchLine(
          name: "documents to 1,000 by \(endpoint.name): our framing",
          rate: BenchLine.median(rates[endpoint.name] ?? []),
          baseline: BenchLine.median(rates[baseline.name] ?? []), target: endpoint.target)
      }
    }

    private static func measure(_ endpoint: Endpoint) async throws -> FanOutClient.Result {
      let folder = try BenchFolder()
      defer { folder.remove() }
      let server = try ChildServer.start([ServedTree.command, folder.path] + endpoint.words)
      defer { server.stop() }
      let client = FanOutClient(
        server: server, subscribers: listeners, language: endpoint.language)
      return try await client.run(messages: messages, paced: 10, perSecond: 50)
    }
  }
#endif
