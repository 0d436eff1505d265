import TernGateway
import TernLedger
import TernSecurity
import TernServer
import TernSpecReplay
import TernStorageMemory
import TernTransportTCP

/// A server in memory that listens at a port of its own, open to every client.
struct ServedDatabase {
  let port: Int
  private let server: TernServer
  private let transport: TCPTransport

  init() async throws {
    transport = try TCPTransport(TCPOptions(port: 0))
    let ledger = try EmbeddedLedger(store: MemoryStore()) { 0 }
    server = try await TernServer(
      ledger: ledger, on: transport, authorizer: AllowAll(), documentAuthorizer: AllowAll(),
      authenticator: OwnerAuthenticator())
    var options = GatewayOptions()
    options.isDevelopment = true
    Gateway.open(to: server, on: transport, options: options)
    let address = try await server.listen(on: transport)
    guard let port = address.split(separator: ":").last.flatMap({ Int($0) }) else {
      throw SpecError("the server listens at \(address)")
    }
    self.port = port
  }

  func stop() async {
    await server.stop()
    await transport.shutdown()
  }
}
