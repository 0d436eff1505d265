#if TCP && canImport(Glibc)
  import Glibc
  import Synchronization
  import TernLedger
  import TernQuery
  import TernSecurity
  import TernServer
  import TernStorage
  import TernStorageMemory
  import TernSync
  import TernTransport
  import TernTransportTCP
  import Testing

  @testable import TernGateway

  /// A server with its endpoints open at a port of its own.
  final class GatewayUnderTest {
    let transport: TCPTransport
    let server: TernServer
    let port: Int
    private let endings = Endings()

    init(
      limits: GatewayLimits = GatewayLimits(), serverLimits: ServerLimits = ServerLimits(),
      rules: String? = nil, documents: (any DocumentAuthorizer)? = nil,
      indexes: DocumentIndexCatalogs? = nil,
      authenticator: any Authenticator = OwnerAuthenticator(),
      ambient: RuntimeEnvironment = .system,
      denied: @escaping @Sendable (RulesExplanation) -> Void = { _ in },
      farewell: ServiceNotice? = nil, store: any OrderedStore = MemoryStore(),
      ledgerOptions: LedgerOptions = LedgerOptions(), isDevelopment: Bool = false,
      absence: Int = 600
    ) async throws {
      transport = try TCPTransport(TCPOptions(port: 0))
      // A client that this machine is slow to run is not absent.
      var limits = limits
      limits.pollAbsenceSeconds = max(limits.pollAbsenceSeconds, absence)
      let ledger = try EmbeddedLedger(store: store, options: ledgerOptions) { 0 }
      let authorizer: any Authorizer =
        try rules.map { RulesAuthorizer(try TreeRules($0), onDenial: denied) } ?? AllowLocal()
      var serverOptions = ServerOptions(limits: serverLimits, farewell: farewell)
      serverOptions.requiredIndexes = indexes
      server = try await TernServer(
        ledger: ledger, on: transport, options: serverOptions,
        authorizer: authorizer, documentAuthorizer: documents, authenticator: authenticator,
        ambient: ambient,
        report: { [endings] event in
          if case .disconnected(_, let reason) = event { endings.add(reason) }
        })
      var options = GatewayOptions(limits: limits)
      options.isDevelopment = isDevelopment
      Gateway.open(to: server, on: transport, options: options)
      let address = try await server.listen(on: transport)
      port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
    }

    /// Returns the reasons for the ends of sessions, once enough have ended.
    func ends(_ isEnough: @escaping @Sendable ([SessionEnd]) -> Bool) async -> [SessionEnd] {
      await endings.wait(isEnough)
    }

    func stop() async {
      await server.stop()
      await transport.shutdown()
    }

    func connect() throws -> Peer { try Peer(port: port) }

    /// A connection whose other end notices soon when nothing is read.
    func connectNarrow() throws -> Peer { try Peer(port: port, receiveBytes: 4_096) }

    /// Sends a request on a connection of its own, and answers all that comes back.
    func exchange(_ text: String) throws -> String {
      let peer = try connect()
      peer.send(text)
      return peer.readToEnd()
    }
  }

  /// Lends a server with open endpoints, and stops it.
  func withGateway(
    limits: GatewayLimits = GatewayLimits(), serverLimits: ServerLimits = ServerLimits(),
    rules: String? = nil, documents: (any DocumentAuthorizer)? = nil,
    indexes: DocumentIndexCatalogs? = nil,
    authenticator: any Authenticator = OwnerAuthenticator(),
    farewell: ServiceNotice? = nil, store: any OrderedStore = MemoryStore(),
    ledgerOptions: LedgerOptions = LedgerOptions(), isDevelopment: Bool = false,
    _ body: (GatewayUnderTest) async throws -> Void
  ) async throws {
    let gateway = try await GatewayUnderTest(
      limits: limits, serverLimits: serverLimits, rules: rules, documents: documents,
      indexes: indexes, authenticator: authenticator, farewell: farewell, store: store,
      ledgerOptions: ledgerOptions, isDevelopment: isDevelopment)
    do { try await apart { try await body(gateway) } } catch {
      await gateway.stop()
      throw error
    }
    await gateway.stop()
  }

  /// Collects why sessions end.
  private final class Endings: Sendable {
    private struct State {
      var reasons: [SessionEnd] = []
      var waiting:
        (
          isEnough: @Sendable ([SessionEnd]) -> Bool, done: CheckedContinuation<[SessionEnd], Never>
        )?
    }

    private let state = Mutex(State())

    func add(_ reason: SessionEnd) {
      let done: (CheckedContinuation<[SessionEnd], Never>, [SessionEnd])? = state.withLock {
        state in
        state.reasons.append(reason)
        guard let waiting = state.waiting, waiting.isEnough(state.reasons) else { return nil }
        state.waiting = nil
        return (waiting.done, state.reasons)
      }
      if let (done, reasons) = done { done.resume(returning: reasons) }
    }

    func wait(_ isEnough: @escaping @Sendable ([SessionEnd]) -> Bool) async -> [SessionEnd] {
      await withCheckedContinuation { done in
        let reasons: [SessionEnd]? = state.withLock { state in
          if isEnough(state.reasons) { return state.reasons }
          state.waiting = (isEnough, done)
          return nil
        }
        if let reasons { done.resume(returning: reasons) }
      }
    }
  }

  /// A plain socket that waits for what it reads.
  final class Peer {
    private var socket: Int32
    /// The received bytes that were not examined yet.
    private var received: [UInt8] = []
    /// True when the other side has closed.
    private var hasEnded = false

    /// - Parameter receiveBytes: How much the system may hold for this end; `nil` for what it
    ///   wants.
    init(port: Int, receiveBytes: Int? = nil) throws {
      socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      if let receiveBytes {
        var size = Int32(receiveBytes)
        unsafe setsockopt(
          socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
      }
      // A longer wait is in vain: the test is to fail, not to hang.
      var patience = timeval(tv_sec: 120, tv_usec: 0)
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

    deinit { if socket >= 0 { close(socket) } }

    /// Ends the connection as a crashing machine does.
    func reset() {
      var option = linger(l_onoff: 1, l_linger: 0)
      unsafe setsockopt(
        socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
      close(socket)
      socket = -1
    }

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
      String(decoding: bytes(through: mark), as: UTF8.self)
    }

    /// The same, as it came.
    func bytes(through mark: String) -> [UInt8] {
      var searched = 0
      while true {
        if let found = received.position(of: mark, from: searched) {
          let end = found + mark.utf8.count
          defer { received.removeSubrange(..<end) }
          return Array(received[..<end])
        }
        searched = max(0, received.count - mark.utf8.count)
        if !receive() { return exchange(&received, with: []) }
      }
    }

    /// The next bytes; `nil` at the end.
    func read(count: Int) -> [UInt8]? { take(count) }

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

  extension [UInt8] {
    /// Returns the position of a text in these bytes, from an index on. Fast, however long they
    /// are.
    func position(of text: String, from start: Int = 0) -> Int? {
      let wanted = Array(text.utf8)
      guard let first = wanted.first else { return start }
      return unsafe withUnsafeBytes { bytes in
        guard let base = bytes.baseAddress else { return nil }
        var place = start
        while place + wanted.count <= count {
          let rest = count - wanted.count - place + 1
          guard let hit = unsafe memchr(base + place, Int32(first), rest) else { return nil }
          place = unsafe UnsafeRawPointer(hit) - base
          if unsafe memcmp(base + place, wanted, wanted.count) == 0 { return place }
          place += 1
        }
        return nil
      }
    }

    /// Returns the number of occurrences of a text in these bytes.
    func occurrences(of text: String) -> Int {
      var found = 0
      var start = 0
      while let position = position(of: text, from: start) {
        found += 1
        start = position + text.utf8.count
      }
      return found
    }
  }

  struct PeerError: Error {
    let code: Int32
  }
#endif
