#if TCP && os(Linux)
  import Glibc
  import TernDocumentWire

  /// Clients in one thread that each wait for their answer.
  struct PolledClients {
    let descriptors: [Int32]

    /// Calls for a time, and returns the answers of a second.
    ///
    /// - Parameters:
    ///   - begin: Sends the next request of a client.
    ///   - receive: Takes in what a client was sent; true when its answer is complete.
    func rate(
      _ seconds: Double, begin: (Int) throws -> Void, receive: (Int) throws -> Bool
    ) throws -> Double {
      for client in descriptors.indices { try begin(client) }
      var polled = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      let start = ContinuousClock.now
      let end = start + .seconds(seconds)
      var (answers, open) = (0, descriptors.count)
      while open > 0 {
        let isOver = ContinuousClock.now > end
        if unsafe poll(&polled, nfds_t(polled.count), 60_000) <= 0 {
          throw BenchFailure(reason: "no answer")
        }
        for client in polled.indices where polled[client].revents != 0 {
          guard try receive(client) else { continue }
          if !isOver { answers += 1 }
          if isOver {
            polled[client].fd = -1
            open -= 1
          } else {
            try begin(client)
          }
        }
      }
      return Double(answers) / ((ContinuousClock.now - start) / .seconds(1))
    }
  }

  /// Clients of gRPC, each on a connection of its own.
  struct GRPCLoads {
    private let clients: [GRPCLoad]

    init(port: Int, clients count: Int) throws {
      clients = try (0..<count).map { _ in try GRPCLoad(port: port) }
    }

    func rate(
      _ method: String, _ seconds: Double, _ message: () -> [UInt8]
    ) throws -> Double {
      try PolledClients(descriptors: clients.map(\.descriptor)).rate(
        seconds, begin: { try clients[$0].begin(method, message()) },
        receive: { client in
          repeat {
            if try clients[client].next().endsStream { return true }
          } while clients[client]
            .hasMore
          return false
        })
    }
  }

  /// Clients of our own framing, each on a connection of its own.
  struct FrameLoad {
    private let clients: [BenchSocket]

    init(port: Int, clients count: Int) throws {
      clients = try (0..<count).map { _ in
        let socket = try BenchSocket(port: port)
        try socket.send([0x54, 0x45, 0x52, 0x4E, 0, 0, 0, 1])
        _ = try socket.read(8)
        return socket
      }
    }

    private func frame(_ bytes: [UInt8]) -> [UInt8] { GRPCLoad.number(UInt32(bytes.count)) + bytes }

    func rate(_ seconds: Double, _ message: () -> [UInt8]) throws -> Double {
      var number: UInt32 = 0
      return try PolledClients(descriptors: clients.map(\.descriptor)).rate(
        seconds,
        begin: { client in
          number += 1
          let opening = DocumentCallOpening(.commit, message: message())
          try clients[client].send(
            frame(DocumentClientFrame.open(stream: number, opening).encode()))
        },
        receive: { client in
          repeat {
            let head = try clients[client].read(4)
            let bytes = Array(try clients[client].read(head.reduce(0) { $0 << 8 | Int($1) }))
            switch try DocumentServerFrame.decode(bytes) {
            case .answer, .end(_, nil): return true
            case .end(_, let status?): throw BenchFailure(reason: "\(status)")
            case .message, .pong: break
            }
          } while clients[client].holds(4)
          return false
        })
    }
  }
#endif
