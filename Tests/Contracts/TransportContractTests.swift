import TernTestKit
import TernTransport
import TernTransportLoopback
import TernTransportTCP
import TernTransportWebSocket
import Testing

private let loopback = TransportFixture("loopback") { limit throws(TransportError) in
  LoopbackTransport(limit: limit)
} client: { server, _, _ throws(TransportError) in
  server
}

@Test("transport contract over loopback", arguments: TransportContract.checks)
func loopbackHolds(check: TransportCheck) async throws {
  try await check.run(on: loopback)
}

#if TCP
  private let tcp = TransportFixture("tcp") { limit throws(TransportError) in
    try TCPPlugin.open(options(port: 0, limit))
  } client: { _, address, limit throws(TransportError) in
    let port = Int(address.split(separator: ":").last ?? "") ?? 0
    return try TCPPlugin.open(options(port: port, limit))
  }

  private func options(port: Int, _ limit: FrameLimit) -> TCPOptions {
    var options = TCPOptions(port: port)
    options.frameLimitBytes = limit.bytes
    return options
  }

  #if TLS
    private let secured = TransportFixture("tcp with TLS") { limit throws(TransportError) in
      var options = options(port: 0, limit)
      options.tls = try ThrowawayCertificate.shared.get().server
      return try TCPPlugin.open(options)
    } client: { _, address, limit throws(TransportError) in
      var options = options(port: Int(address.split(separator: ":").last ?? "") ?? 0, limit)
      options.tls = try ThrowawayCertificate.shared.get().client
      return try TCPPlugin.open(options)
    }

    @Test("transport contract over TCP with TLS", arguments: TransportContract.checks)
    func securedHolds(check: TransportCheck) async throws {
      try await check.run(on: secured)
    }
  #endif

  private let webSocket = TransportFixture("websocket") { limit throws(TransportError) in
    try WebSocketPlugin.open(WebSocketOptions(options(port: 0, limit)))
  } client: { _, address, limit throws(TransportError) in
    let port = Int(address.split(separator: ":").last ?? "") ?? 0
    return try WebSocketPlugin.open(WebSocketOptions(options(port: port, limit)))
  }

  @Test("transport contract over WebSocket", arguments: TransportContract.checks)
  func webSocketHolds(check: TransportCheck) async throws {
    try await check.run(on: webSocket)
  }

  #if TLS
    private let securedWebSocket = TransportFixture("websocket with TLS") {
      limit throws(TransportError) in
      var options = options(port: 0, limit)
      options.tls = try ThrowawayCertificate.shared.get().server
      return try WebSocketPlugin.open(WebSocketOptions(options))
    } client: { _, address, limit throws(TransportError) in
      var options = options(port: Int(address.split(separator: ":").last ?? "") ?? 0, limit)
      options.tls = try ThrowawayCertificate.shared.get().client
      return try WebSocketPlugin.open(WebSocketOptions(options))
    }

    @Test("transport contract over WebSocket with TLS", arguments: TransportContract.checks)
    func securedWebSocketHolds(check: TransportCheck) async throws {
      try await check.run(on: securedWebSocket)
    }
  #endif

  @Test("transport contract over TCP", arguments: TransportContract.checks)
  func tcpHolds(check: TransportCheck) async throws {
    try await check.run(on: tcp)
  }
#endif
