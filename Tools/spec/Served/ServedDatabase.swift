import TernGateway
import TernLedger
import TernSecurity
import TernServer
import TernSpecReplay
import TernStorageMemory
import TernSync
import TernTransportTCP

/// A server in memory that listens at a port of its own, open to every client.
struct ServedDatabase {
  let port: Int
  private let server: TernServer
  private let transport: TCPTransport
  private let clock = ShiftedClock()

  init() async throws {
    transport = try TCPTransport(TCPOptions(port: 0))
    let ledger = try EmbeddedLedger(store: MemoryStore()) { 0 }
    let system = RuntimeEnvironment.system
    let environment = RuntimeEnvironment(
      millisecondsSinceEpoch: { [clock] in
        system.millisecondsSinceEpoch() + clock.offset.components.seconds * 1_000
      }, clock: clock, randomBits: system.randomBits)
    server = try await TernServer(
      ledger: ledger, on: transport, authorizer: AllowAll(), documentAuthorizer: AllowAll(),
      authenticator: OwnerAuthenticator(), ambient: environment)
    var options = GatewayOptions()
    options.isDevelopment = true
    Gateway.open(to: server, on: transport, options: options)
    let address = try await server.listen(on: transport)
    guard let port = address.split(separator: ":").last.flatMap({ Int($0) }) else {
      throw SpecError("the server listens at \(address)")
    }
    self.port = port
  }

  /// Puts the server's clock forward.
  @Sendable func wait(seconds: Int) { clock.advance(by: .seconds(seconds)) }

  func stop() async {
    await server.stop()
    await transport.shutdown()
  }
}
