import ArgumentParser
import Foundation
import Logging
import TernAssembly
import TernGateway
import TernServer
import TernServerAssembly
import TernTransport
import TernTransportTCP

/// The options that may change while a server runs: read at the start, and again at SIGHUP.
struct OperatorReading: Sendable {
  let options: OperatorOptions
  let rates: RateLimits

  init(_ configuration: Configuration) throws(ConfigurationError) {
    options = try OperatorOptions(of: configuration)
    rates = try Assembler(catalog: .serving).limitOptions(of: configuration).rates
  }
}

/// A server with what belongs to its life under an operator: the admin listener, the service
/// manager, SIGHUP, and the orderly end.
final class OperatedServer: Sendable {
  private let server: AssembledServer
  private let options: OperatorOptions
  private let manager = ServiceManager(environment: ProcessInfo.processInfo.environment)
  private let admin: AdminListener?
  private let watchdog: Task<Void, Never>?
  private let reloading: FileWatch

  /// Prepares a server before any client is accepted.
  static func prepare(
    _ server: TernServer, _ transport: any Transport, _ options: OperatorOptions
  ) {
    server.surroundings.version = ProgramVersion.number
    if let transport = transport as? TCPTransport,
      let proxies = TrustedProxies(options.proxy.trusted ?? [])
    {
      transport.trust(proxies, expectsHeader: options.proxy.protocol ?? false)
    }
    if options.log.access == true { server.surroundings.accessLog = { AccessLog.tell($0) } }
  }

  /// Opens the admin listener, and follows SIGHUP.
  ///
  /// - Parameter read: Reads the configuration again; `nil` when it has mistakes, which are told.
  init(
    _ server: AssembledServer, _ options: OperatorOptions,
    read: @escaping @Sendable () -> OperatorReading?
  ) async throws(TransportError) {
    self.server = server
    self.options = options
    if let port = options.admin.port {
      admin = try await AdminListener.open(
        for: server.server, host: options.admin.host ?? "127.0.0.1", port: port)
    } else {
      admin = nil
    }
    watchdog = manager.watch(server.server)
    let (manager, address) = (manager, server.address)
    // No files of its own: it answers to SIGHUP alone.
    reloading = FileWatch([]) {
      manager.reloading()
      await Self.reload(server.server, read)
      manager.ready(address)
    }
  }

  /// The address of the admin listener; `nil` for none.
  var adminAddress: String? { admin?.address }

  /// Tells the service manager that clients are accepted.
  func tellReady() { manager.ready(server.address) }

  private static func reload(
    _ server: TernServer, _ read: @Sendable () -> OperatorReading?
  ) async {
    guard let reading = read() else {
      return OperatorLog.tell("the configuration has mistakes; nothing of it has changed", .error)
    }
    OperatorLog.level = reading.options.log.loggerLevel
    let log: (@Sendable (AccessRecord) -> Void)? = { AccessLog.tell($0) }
    server.surroundings.accessLog = reading.options.log.access == true ? log : nil
    await server.adopt(reading.rates)
  }

  /// Ends the server: what is under way is finished, within the grace, and clients are told.
  func stop() async {
    manager.stopping()
    reloading.stop()
    watchdog?.cancel()
    await ServerOperations(of: server.server).drain(within: options.shutdown.duration)
    await admin?.close()
    await server.stop()
  }
}

/// The lines about requests over HTTP.
enum AccessLog {
  static func tell(_ record: AccessRecord) {
    OperatorLog.tell(
      "\(record.method) \(record.path) \(record.status)", .info,
      [
        "address": "\(record.address)", "bytes": "\(record.bytes)",
        "microseconds": "\(record.microseconds)",
      ].merging(DenialRing.metadata(record.denial)) { $1 })
  }
}
