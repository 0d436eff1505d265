#if TCP
  import Foundation
  import TernTransport
  import TernTransportTCP

  /// The smallest server over the transport: what publishers send goes to all subscribers.
  actor FanOutRelay {
    static let command = "fan-out-relay"

    private let executor: any SerialExecutor
    private var subscribers: [any Link] = []

    private init(_ transport: any Transport) {
      executor = transport.executor
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor {
      unsafe executor.asUnownedSerialExecutor()
    }

    /// Listens at a free port of this machine, which it prints, until the process is ended.
    static func serve() async throws {
      let transport = try TCPPlugin.open(TCPOptions(port: 0))
      let relay = FanOutRelay(transport)
      let listener = try await transport.listen { FanOutSession(relay, $0) }
      let port = listener.address.split(separator: ":").last ?? ""
      // Not print: a pipe would keep what was printed until it is full.
      FileHandle.standardOutput.write(Data("\(port)\n".utf8))
      while readLine() != nil {}
    }

    fileprivate func receive(_ frames: [[UInt8]], from session: FanOutSession) {
      var frames = frames[...]
      if session.isNew, let first = frames.popFirst() {
        session.isNew = false
        if first == [UInt8(ascii: "s")] { subscribers.append(session.link) }
        session.link.send(first)
        session.link.flush()
      }
      if frames.isEmpty { return }
      for subscriber in subscribers {
        for frame in frames { subscriber.send(frame) }
        subscriber.flush()
      }
    }

    fileprivate func end(_ session: FanOutSession) {
      subscribers.removeAll { $0 === session.link }
    }
  }

  /// One connection of the relay.
  ///
  /// `@unchecked Sendable` is sound because only the relay's executor uses `isNew`.
  private final class FanOutSession: LinkHandler, @unchecked Sendable {
    private let relay: FanOutRelay
    let link: any Link
    var isNew = true

    init(_ relay: FanOutRelay, _ link: any Link) {
      self.relay = relay
      self.link = link
    }

    func linkDidReceive(_ frames: [[UInt8]]) {
      relay.assumeIsolated { $0.receive(frames, from: self) }
    }

    func linkDidClose(_ reason: LinkClosure) {
      relay.assumeIsolated { $0.end(self) }
    }
  }

  extension ChildServer {
    /// This program as a relay over the transport.
    static func relay() throws -> ChildServer { try start([FanOutRelay.command]) }
  }
#endif
