#if TCP && canImport(Glibc)
  import Dispatch
  import TernTransport
  import TernTransportTCP
  import Testing

  /// Reports how many frames its link has received.
  private final class Reporter: LinkHandler {
    let events: AsyncStream<Event>.Continuation

    init(_ events: AsyncStream<Event>.Continuation) { self.events = events }

    func linkDidReceive(_ frames: [[UInt8]]) { events.yield(.received(frames.count)) }
    func linkDidClose(_ reason: LinkClosure) {}
  }

  private enum Event {
    case opened
    case received(Int)
  }

  @Suite("accepting connections", .timeLimit(.minutes(2))) struct AcceptingTests {
    private static let newcomers = 48
    /// The most connections of one turn of the loop.
    private static let share = 16

    @Test("a burst of connections takes few turns, and none of them for itself")
    func burst() async throws {
      let (events, report) = AsyncStream<Event>.makeStream()
      let transport = try TCPTransport(TCPOptions(port: 0))
      let listener = try await transport.listen { _ in
        report.yield(.opened)
        return Reporter(report)
      }
      let port = try #require(listener.address.split(separator: ":").last.flatMap { Int($0) })
      var iterator = events.makeAsyncIterator()
      let settled = try RawPeer(port: port)
      settled.send([0x54, 0x45, 0x52, 0x4E, 0, 0, 0, 1])
      guard case .opened? = await iterator.next() else { return #expect(Bool(false)) }
      // While the loop stands still, the burst arrives, and more of the settled connection than is
      // read in four turns. A turn reads from it once.
      let gate = DispatchSemaphore(value: 0)
      transport.enqueue { gate.wait() }
      var burst: [RawPeer] = []
      for _ in 0..<Self.newcomers { burst.append(try RawPeer(port: port)) }
      let frame = [0, 0, 3, 0xE8] + [UInt8](repeating: 7, count: 1_000)
      let frames = 64
      settled.send([UInt8]([[UInt8]](repeating: frame, count: frames).joined()))
      gate.signal()
      var (opened, received, longest, run) = (0, 0, 0, 0)
      var openedAtLastRead = 0
      while opened < Self.newcomers || received < frames {
        switch await iterator.next() {
        case .opened?:
          (opened, run) = (opened + 1, run + 1)
          longest = max(longest, run)
        case .received(let count)?:
          (received, run, openedAtLastRead) = (received + count, 0, opened)
        case nil: throw SystemError(code: 0)
        }
      }
      #expect(openedAtLastRead == Self.newcomers, "all while the other connection is read")
      #expect(longest <= 2 * Self.share, "\(longest) connections between two reads")
      await transport.shutdown()
    }
  }
#endif
