#if TCP && canImport(Glibc)
  import Foundation
  import Glibc
  import Synchronization
  import TernCore
  import Testing

  @testable import TernGateway

  @Suite("WebChannel, behind a proxy that keeps responses until they are whole")
  struct BufferingProxyTests {
    @Test("a client that sees no bytes goes on with long polls, and loses and repeats nothing")
    func fallsBack() async throws {
      try await withGateway { gateway in
        let proxy = try BufferingProxy(to: gateway.port)
        defer { proxy.stop() }
        let writer = try WriterPeer(port: proxy.port, isLongPoll: true)
        let page = try ChannelPeer(port: proxy.port, [ChannelPeer.add(2)])
        try page.giveStreamUp()
        #expect(brief(try page.hear(through: "CURRENT")).last == "CURRENT")
        _ = try page.hear(through: "readTime")
        for id in 0..<5 {
          try writer.set("rooms/\(id)", "\(id)")
          #expect(brief(try page.hear(through: "readTime")) == ["change \(id)", "boundary"])
        }
        page.leave()
      }
    }

    @Test("a client that streams all the same is informed when the response ends")
    func streams() async throws {
      var limits = GatewayLimits()
      limits.webChannel.responseSeconds = 1
      try await withGateway(limits: limits) { gateway in
        let proxy = try BufferingProxy(to: gateway.port)
        defer { proxy.stop() }
        let writer = try WriterPeer(port: gateway.port)
        let page = try ChannelPeer(port: proxy.port, [ChannelPeer.add(2)])
        _ = try page.hear(through: "CURRENT")
        for id in 0..<3 { try writer.set("rooms/\(id)", "\(id)") }
        let told = brief(try page.hear(through: "rooms/2")).filter { $0 != "boundary" }
        #expect(told == ["change 0", "change 1", "change 2"])
      }
    }
  }

  /// A proxy that passes on a response when it has all of it, one request at a time.
  private final class BufferingProxy: Sendable {
    let port: Int
    private let listener: Int32

    init(to server: Int) throws {
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          unsafe bind(listener, address, size) == 0 && listen(listener, 16) == 0
            && getsockname(listener, address, &size) == 0
        }
      }
      try #require(isBound)
      self.listener = listener
      port = Int(UInt16(bigEndian: address.sin_port))
      Thread.detachNewThread {
        while true {
          let client = unsafe accept(listener, nil, nil)
          if client < 0 { return }
          Thread.detachNewThread { Self.serve(client, server) }
        }
      }
    }

    func stop() {
      shutdown(listener, Int32(SHUT_RDWR))
      close(listener)
    }

    private static func serve(_ client: Int32, _ server: Int) {
      defer { close(client) }
      guard let upstream = try? Peer(port: server) else { return }
      var received: [UInt8] = []
      while let request = request(from: client, &received) {
        upstream.send(request)
        let head = upstream.bytes(through: "\r\n\r\n")
        let text = String(decoding: head, as: UTF8.self)
        let length = text.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.output.1) }
        let body = length.map { upstream.read(count: $0) ?? [] }
        let whole = head + (body ?? upstream.bytes(through: "\r\n0\r\n\r\n"))
        var rest = whole[...]
        while !rest.isEmpty {
          let part = Array(rest)
          let count = unsafe send(client, part, part.count, Int32(MSG_NOSIGNAL))
          // The client has given this response up.
          if count <= 0 { return }
          rest = rest.dropFirst(count)
        }
      }
    }

    /// The next request, whole; `nil` at the end.
    private static func request(from client: Int32, _ received: inout [UInt8]) -> [UInt8]? {
      while true {
        if let end = received.position(of: "\r\n\r\n") {
          let head = String(decoding: received[..<end], as: UTF8.self)
          let length = head.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.output.1) }
          let count = end + 4 + (length ?? 0)
          if received.count >= count {
            defer { received.removeFirst(count) }
            return Array(received[..<count])
          }
        }
        var part = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe recv(client, &part, part.count, 0)
        if count <= 0 { return nil }
        received += part[..<count]
      }
    }
  }
#endif
