#if TCP && canImport(Glibc)
  import Glibc
  import TernLedger
  import TernSecurity
  import TernServer
  import TernStorageMemory
  import TernTransport
  import TernTransportTCP
  import Testing

  @testable import TernGateway

  /// A server with its doors open at a port of its own.
  final class DoorUnderTest {
    let transport: TCPTransport
    let server: TernServer
    let port: Int

    init(
      limits: GatewayLimits = GatewayLimits(), serverLimits: ServerLimits = ServerLimits(),
      rules: String? = nil
    ) async throws {
      transport = try TCPTransport(TCPOptions(port: 0))
      let ledger = try EmbeddedLedger(store: MemoryStore()) { 0 }
      let authorizer: any Authorizer =
        try rules.map { RulesAuthorizer(try TreeRules($0)) } ?? AllowLocal()
      server = try await TernServer(
        ledger: ledger, on: transport, options: ServerOptions(limits: serverLimits),
        authorizer: authorizer, authenticator: OwnerAuthenticator())
      Gateway.open(to: server, on: transport, options: GatewayOptions(limits: limits))
      let address = try await server.listen(on: transport)
      port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
    }

    func stop() async {
      await server.stop()
      await transport.shutdown()
    }

    func connect() throws -> Peer { try Peer(port: port) }

    /// Sends a request on a connection of its own, and answers all that comes back.
    func exchange(_ text: String) throws -> String {
      let peer = try connect()
      peer.send(text)
      return peer.readToEnd()
    }
  }

  /// Lends a server with open doors, and stops it.
  func withDoor(
    limits: GatewayLimits = GatewayLimits(), serverLimits: ServerLimits = ServerLimits(),
    rules: String? = nil, _ body: (DoorUnderTest) async throws -> Void
  ) async throws {
    let door = try await DoorUnderTest(limits: limits, serverLimits: serverLimits, rules: rules)
    do { try await body(door) } catch {
      await door.stop()
      throw error
    }
    await door.stop()
  }

  /// A plain socket that waits for what it reads.
  final class Peer {
    private let socket: Int32
    /// What was received and not looked at.
    private var received: [UInt8] = []
    /// Whether the other side has closed.
    private var hasEnded = false

    init(port: Int) throws {
      socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      // Whoever waits longer than this waits in vain: the test is to fail, not to hang.
      var patience = timeval(tv_sec: 30, tv_usec: 0)
      unsafe setsockopt(
        socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = in_port_t(port).bigEndian
      address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
      let size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let result = unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe Glibc.connect(socket, $0, size)
        }
      }
      if result != 0 { throw PeerError(code: errno) }
    }

    deinit { close(socket) }

    func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends as much as the other side takes; `false` when it takes nothing more.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
      var rest = bytes[...]
      while !rest.isEmpty {
        let part = Array(rest)
        let count = unsafe Glibc.send(socket, part, part.count, Int32(MSG_NOSIGNAL))
        if count <= 0 { return false }
        rest = rest.dropFirst(count)
      }
      return true
    }

    private func receive() -> Bool {
      var part = [UInt8](repeating: 0, count: 65_536)
      let count = unsafe recv(socket, &part, part.count, 0)
      if count <= 0 {
        hasEnded = true
        return false
      }
      received += part[..<count]
      return true
    }

    /// Everything until the other side closes.
    func readToEnd() -> String {
      while receive() {}
      defer { received = [] }
      return String(decoding: received, as: UTF8.self)
    }

    /// Everything up to the first occurrence of `mark`, and the mark; all there was if it ended.
    func read(through mark: String) -> String {
      let wanted = Array(mark.utf8)
      while true {
        if let found = received.firstRange(of: wanted) {
          defer { received.removeSubrange(..<found.upperBound) }
          return String(decoding: received[..<found.upperBound], as: UTF8.self)
        }
        if !receive() { return String(decoding: exchange(&received, with: []), as: UTF8.self) }
      }
    }

    private func take(_ count: Int) -> [UInt8]? {
      while received.count < count { if !receive() { return nil } }
      defer { received.removeFirst(count) }
      return Array(received[..<count])
    }

    /// The next frame of a WebSocket: its opcode and payload; `nil` at the end.
    func frame() -> (opcode: UInt8, payload: [UInt8])? {
      guard let head = take(2) else { return nil }
      var length = Int(head[1])
      if length >= 126 {
        guard let more = take(length == 126 ? 2 : 8) else { return nil }
        length = more.reduce(0) { $0 << 8 | Int($1) }
      }
      return take(length).map { (head[0] & 0x0F, $0) }
    }

    /// The next message of a WebSocket, its parts joined.
    func message() -> String {
      guard let first = frame() else { return "ended" }
      if first.opcode == 8 {
        let code = first.payload.prefix(2).reduce(0) { $0 << 8 | Int($1) }
        return "closed \(code) " + String(decoding: first.payload.dropFirst(2), as: UTF8.self)
      }
      let text = String(decoding: first.payload, as: UTF8.self)
      guard let count = Int(text) else { return text }
      var joined: [UInt8] = []
      for _ in 0..<count { joined += frame()?.payload ?? [] }
      return String(decoding: joined, as: UTF8.self)
    }

    /// Turns the connection into a WebSocket; answers the server's greeting.
    ///
    /// - Parameter eager: Frames that do not wait for the server's consent.
    func openWebSocket(
      _ target: String = "/.ws?v=5", headers: String = "", eager: [UInt8] = []
    ) -> String {
      let request =
        "GET \(target) HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
        + "Connection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\(headers)\r\n"
      send(Array(request.utf8) + eager)
      let answer = read(through: "\r\n\r\n")
      guard answer.hasPrefix("HTTP/1.1 101"), answer.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
      else { return answer }
      return message()
    }

    /// Sends a request of the dialect.
    func ask(_ number: Int, _ action: String, _ body: String) {
      send(masked(1, #"{"t":"d","d":{"r":\#(number),"a":"\#(action)","b":\#(body)}}"#))
    }
  }

  struct PeerError: Error {
    let code: Int32
  }
#endif
