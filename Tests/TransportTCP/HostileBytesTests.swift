#if TCP && canImport(Glibc)
  import Dispatch
  import Foundation
  import TernTransport
  import TernTransportTCP
  import Testing

  /// Passes on what the links of one listener tell.
  private final class Reporter: LinkHandler {
    let events: AsyncStream<String>.Continuation

    init(_ events: AsyncStream<String>.Continuation) { self.events = events }

    func linkDidReceive(_ frames: [[UInt8]]) { events.yield("frames \(frames)") }
    func linkDidClose(_ reason: LinkClosure) {
      if case .lost = reason { events.yield("lost") } else { events.yield("\(reason)") }
    }
  }

  /// A listener at a free port, and what its links tell.
  private struct Endpoint {
    let transport: any Transport
    let port: Int
    let events: AsyncStream<String>

    init(
      charging budget: MemoryBudget? = nil, _ change: (inout TCPOptions) -> Void = { _ in }
    ) async throws {
      var options = TCPOptions(port: 0)
      change(&options)
      let (events, report) = AsyncStream<String>.makeStream()
      self.events = events
      let transport = try TCPTransport(options)
      if let budget { transport.charge(budget) }
      self.transport = transport
      let listener = try await transport.listen { _ in Reporter(report) }
      port = Int(listener.address.split(separator: ":").last ?? "") ?? 0
    }

    func next() async -> String? {
      var iterator = events.makeAsyncIterator()
      return await iterator.next()
    }
  }

  private let hello: [UInt8] = [0x54, 0x45, 0x52, 0x4E, 0, 0, 0, 1]

  @Suite("hostile bytes over TCP", .timeLimit(.minutes(10))) struct HostileBytesTests {
    @Test("both sides introduce themselves without waiting")
    func preamble() async throws {
      let endpoint = try await Endpoint()
      let peer = try RawPeer(port: endpoint.port)
      peer.send(hello + [0, 0, 0, 1, 42])
      #expect(await endpoint.next() == "frames [[42]]")
      peer.closeOutput()
      #expect(await endpoint.next() == "closed by the peer")
      #expect(peer.readToEnd() == hello)
      await endpoint.transport.shutdown()
    }

    @Test("another protocol is turned away")
    func foreign() async throws {
      let endpoint = try await Endpoint()
      let peer = try RawPeer(port: endpoint.port)
      peer.send(Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
      #expect(await endpoint.next() == "\(LinkClosure.foreignPeer(Array("GET / HT".utf8)))")
      _ = peer.readToEnd()
      await endpoint.transport.shutdown()
    }

    @Test("a silent peer is let go")
    func silent() async throws {
      let endpoint = try await Endpoint { $0.preambleTimeoutSeconds = 1 }
      let peer = try RawPeer(port: endpoint.port)
      #expect(await endpoint.next() == "\(LinkClosure.silentPeer)")
      #expect(peer.readToEnd() == hello)
      await endpoint.transport.shutdown()
    }

    @Test("an announced giant ends the link, and whole frames before it count")
    func giant() async throws {
      let endpoint = try await Endpoint()
      let peer = try RawPeer(port: endpoint.port)
      peer.send(hello + [0, 0, 0, 1, 1] + [0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3])
      #expect(await endpoint.next() == "frames [[1]]")
      let limit = FrameLimit.standard.bytes
      #expect(
        await endpoint.next()
          == "\(LinkClosure.frameTooLarge(bytes: 0xFFFF_FFFF, limitBytes: limit))")
      await endpoint.transport.shutdown()
    }

    @Test("a connection above the total of unfinished frames is ended, not others")
    func unfinished() async throws {
      let endpoint = try await Endpoint { options in
        options.frameLimitBytes = 1_000
        options.heldFrameBytes = 1_500
      }
      /// A whole frame, then the beginning of one of 1,000 bytes.
      let beginning = hello + [0, 0, 0, 1, 7] + [0, 0, 0x03, 0xE8, 1]
      let overloaded = "\(LinkClosure.overloaded(limitBytes: 1_500))"
      let first = try RawPeer(port: endpoint.port)
      first.send(beginning)
      #expect(await endpoint.next() == "frames [[7]]")
      // Neither the link that is refused nor one that is gone counts any more.
      for _ in 1...3 {
        let second = try RawPeer(port: endpoint.port)
        second.send(beginning)
        #expect(await endpoint.next() == "frames [[7]]")
        #expect(await endpoint.next() == overloaded)
        _ = second.readToEnd()
      }
      let small = try RawPeer(port: endpoint.port)
      small.send(hello + [0, 0, 0, 2, 1])
      small.send([2])
      #expect(await endpoint.next() == "frames [[1, 2]]")
      // The first goes on, and what it held is free again.
      first.send([UInt8](repeating: 1, count: 999))
      #expect(await endpoint.next()?.count == "frames [[]]".count + 1_000 * 3 - 2)
      let third = try RawPeer(port: endpoint.port)
      third.send(beginning)
      #expect(await endpoint.next() == "frames [[7]]")
      third.reset()
      #expect(await endpoint.next() == "lost")
      let fourth = try RawPeer(port: endpoint.port)
      fourth.send(beginning)
      #expect(await endpoint.next() == "frames [[7]]")
      first.send([0, 0, 0x03, 0xE8, 1])
      #expect(await endpoint.next() == overloaded)
      await endpoint.transport.shutdown()
    }

    @Test("a connection above its share of unfinished frames is slowed, and goes on when it may")
    func slowed() async throws {
      let budget = MemoryBudget(limitBytes: 64 << 20, addressBytes: 4 << 20)
      let endpoint = try await Endpoint(charging: budget)
      let peer = try RawPeer(port: endpoint.port)
      peer.send(hello + [0, 0x30, 0, 0, 1])
      while budget.usedBytes(for: .receiving) < 1 << 20 { await Task.yield() }
      budget.count(4 << 20, .answers, to: "127.0.0.1")
      // Blocks until most of it was read; nothing else sends meanwhile.
      nonisolated(unsafe) let sender = peer
      DispatchQueue.global().async {
        unsafe sender.send([UInt8](repeating: 1, count: (3 << 20) - 1))
      }
      // It has more than its share, and no room: it waits, for some seconds at most. A thread of
      // its own sees that in time on a loaded machine, too.
      Thread.detachNewThread {
        while budget.usedBytes(for: .receiving) == 1 << 20 { sched_yield() }
        budget.release(4 << 20, .answers, of: "127.0.0.1")
      }
      #expect(await endpoint.next()?.count == "frames [[]]".count + (3 << 20) * 3 - 2)
      #expect(budget.usedBytes(for: .receiving) == 0)
      await endpoint.transport.shutdown()
    }

    @Test(
      "an end within a frame is a loss", arguments: [hello + [0, 0], hello + [0, 0, 0, 2, 1]])
    func truncated(bytes: [UInt8]) async throws {
      let endpoint = try await Endpoint()
      let peer = try RawPeer(port: endpoint.port)
      peer.send(bytes)
      peer.closeOutput()
      #expect(await endpoint.next() == "lost")
      await endpoint.transport.shutdown()
    }

    @Test("a reset is a loss")
    func reset() async throws {
      let endpoint = try await Endpoint()
      let peer = try RawPeer(port: endpoint.port)
      peer.send(hello + [0, 0, 0, 1, 7])
      #expect(await endpoint.next() == "frames [[7]]")
      peer.reset()
      #expect(await endpoint.next() == "lost")
      await endpoint.transport.shutdown()
    }
  }

  @Suite("TCP addresses", .timeLimit(.minutes(10))) struct TCPAddressTests {
    @Test("errors name the host and the port")
    func errors() async throws {
      let endpoint = try await Endpoint()
      let other = try TCPTransport(TCPOptions(port: endpoint.port))
      await #expect(throws: TransportError.addressInUse(host: "127.0.0.1", port: endpoint.port)) {
        _ = try await other.listen { _ in preconditionFailure("nobody connects") }
      }
      await endpoint.transport.shutdown()
      await #expect(throws: TransportError.refused(host: "127.0.0.1", port: endpoint.port)) {
        try await other.connect { _ in preconditionFailure("nobody answers") }
      }
      await other.shutdown()
    }

    @Test("an unknown name is unreachable")
    func unknownName() async throws {
      let transport = try TCPTransport(TCPOptions(host: "nowhere.invalid", port: 1))
      await #expect {
        try await transport.connect { _ in preconditionFailure("nobody answers") }
      } throws: { error in
        guard case .unreachable(host: "nowhere.invalid", port: 1, _)? = error as? TransportError
        else { return false }
        return true
      }
      await transport.shutdown()
    }
  }
#endif
