import ArgumentParser
import Logging
import TernAssembly
import TernGateway
import TernServer
import TernServerAssembly
import TernTransport
import TernTransportTCP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The options that may change while a server runs: read at the start, and again at SIGHUP.
struct OperatorReading: Sendable {
  let options: OperatorOptions
  let limits: LimitOptions

  init(_ configuration: Configuration) throws(ConfigurationError) {
    options = try OperatorOptions(of: configuration)
    limits = try Assembler(catalog: .serving).limitOptions(of: configuration)
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
    read: @escaping @Sendable () throws -> OperatorReading
  ) async throws(TransportError) {
    self.server = server
    self.options = options
    if let port = options.admin.port {
      admin = try await AdminListener.open(
        for: server.server, host: options.admin.host ?? "127.0.0.1", port: port,
        names: options.admin.names ?? [])
    } else {
      admin = nil
    }
    watchdog = manager.watch(server.server)
    await Self.logWrites(of: server.server, options)
    let (manager, address) = (manager, server.address)
    // No files of its own: it answers to SIGHUP alone.
    reloading = FileWatch([]) {
      manager.reloading()
      await Self.reload(server.server, read)
      manager.ready(address)
    }
  }

  private static func logWrites(of server: TernServer, _ options: OperatorOptions) async {
    let log: (@Sendable (WriteTrace) -> Void)? = { AccessLog.tell($0) }
    await server.traceWrites(options.log.writes == true ? log : nil)
  }

  /// The address of the admin listener; `nil` for none.
  var adminAddress: String? { admin?.address }

  /// Tells the service manager that clients are accepted.
  func tellReady() { manager.ready(server.address) }

  private static func reload(
    _ server: TernServer, _ read: @Sendable () throws -> OperatorReading
  ) async {
    let reading: OperatorReading
    do { reading = try read() } catch {
      let reason = (error as? Failure)?.message ?? "\(error)"
      return OperatorLog.tell(
        "the configuration has mistakes; nothing of it has changed: \(reason)", .error)
    }
    OperatorLog.level = reading.options.log.loggerLevel
    let log: (@Sendable (AccessRecord) -> Void)? = { AccessLog.tell($0) }
    server.surroundings.accessLog = reading.options.log.access == true ? log : nil
    await Self.logWrites(of: server, reading.options)
    await server.adopt(reading.limits.rates)
    await ServerOperations(of: server).adopt(
      memoryBytes: reading.limits.memoryBytes ?? MachineMemory.standardLimit(),
      perAddress: reading.limits.memoryBytesPerAddress,
      perIdentity: reading.limits.memoryBytesPerIdentity)
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

/// The lines about single requests and writes.
enum AccessLog {
  /// Tells the way of a write, in microseconds.
  static func tell(_ trace: WriteTrace) {
    let times = trace.batch
    var metadata: Logger.Metadata = [
      "waited": "\(times.begun - trace.received)", "judged": "\(times.judged - times.begun)",
      "told": "\(trace.told - (times.committed ?? times.judged))",
    ]
    if let committed = times.committed { metadata["stored"] = "\(committed - times.judged)" }
    OperatorLog.tell("write \(trace.model.rawValue) \(trace.outcome)", .info, metadata)
  }

  static func tell(_ record: AccessRecord) {
    var metadata: Logger.Metadata = [
      "address": "\(record.address)", "bytes": "\(record.bytes)",
      "microseconds": "\(record.microseconds)",
    ]
    if let status = record.grpcStatus { metadata["grpcStatus"] = "\(status)" }
    OperatorLog.tell(
      "\(record.method) \(record.path) \(record.status)", .info,
      metadata.merging(DenialRing.metadata(record.denial)) { $1 })
  }
}
