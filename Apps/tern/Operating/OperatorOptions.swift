import Logging
import TernAssembly
import TernTransportTCP

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The options of a server for its operator: the sections `log`, `admin`, `proxy` and `shutdown`.
struct OperatorOptions: Sendable {
  var log = Log()
  var admin = Admin()
  var proxy = Proxy()
  var shutdown = Shutdown()

  /// The operator's log.
  struct Log: Decodable, Sendable {
    /// `trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`. Default `info`.
    var level: String?
    /// `text` or `json`. Default: text on a terminal, JSON elsewhere.
    var format: String?
    /// True to tell each request over HTTP and each call of gRPC. Default: false.
    var access: Bool?
    /// True to tell the way of each write: how long it waited, was judged, stored and told.
    /// Default: false.
    var writes: Bool?

    var loggerLevel: Logger.Level { level.flatMap(Logger.Level.init(rawValue:)) ?? .info }

    var lineFormat: OperatorLog.Format {
      format.flatMap(OperatorLog.Format.init(rawValue:)) ?? (isatty(2) == 1 ? .text : .json)
    }
  }

  /// A listener for operators alone.
  struct Admin: Decodable, Sendable {
    /// Default 127.0.0.1.
    var host: String?
    /// `nil` for no listener.
    var port: Int?
    /// The names, besides `host` and `localhost`, under which clients reach it.
    var names: [String]?
    /// True to listen in the clear at an address that other machines can reach. Default: false.
    var insecure: Bool?
  }

  /// Proxies between clients and the server.
  struct Proxy: Decodable, Sendable {
    /// The addresses and networks whose `X-Forwarded-For` and PROXY headers are believed.
    var trusted: [String]?
    /// True when they begin each connection with a PROXY header, version 1 or 2.
    var `protocol`: Bool?
  }

  /// The end of a server.
  struct Shutdown: Decodable, Sendable {
    /// The seconds for what is under way. Default 10.
    var grace: Int?

    var duration: Duration { .seconds(grace ?? 10) }
  }

  /// Reads the sections.
  init(of configuration: Configuration) throws(ConfigurationError) {
    log = try SectionReader(section: "log", ownKeys: []).read(Log.self, from: configuration.log)
    admin = try SectionReader(section: "admin", ownKeys: [])
      .read(Admin.self, from: configuration.admin)
    proxy = try SectionReader(section: "proxy", ownKeys: [])
      .read(Proxy.self, from: configuration.proxy)
    shutdown = try SectionReader(section: "shutdown", ownKeys: [])
      .read(Shutdown.self, from: configuration.shutdown)
    try check()
  }

  private func check() throws(ConfigurationError) {
    if let level = log.level, Logger.Level(rawValue: level) == nil {
      let known = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
      throw .refused(section: "log", reason: "\"level\": \(level) is none of \(known)")
    }
    if let format = log.format, OperatorLog.Format(rawValue: format) == nil {
      throw .refused(section: "log", reason: "\"format\": \(format) is neither text nor json")
    }
    if let port = admin.port, !(0...65_535).contains(port) {
      throw .refused(section: "admin", reason: "\"port\": \(port) is not in 0...65535")
    }
    if let names = admin.names, names.contains(where: { $0.isEmpty || $0.contains("/") }) {
      throw .refused(
        section: "admin", reason: "\"names\" is a list of names of hosts: db.internal")
    }
    if admin.host != nil, admin.port == nil {
      throw .refused(section: "admin", reason: "\"host\" needs a \"port\"")
    }
    if TrustedProxies(proxy.trusted ?? []) == nil {
      throw .refused(
        section: "proxy", reason: "\"trusted\" is a list of addresses and networks: 10.0.0.0/8")
    }
    if proxy.protocol == true, (proxy.trusted ?? []).isEmpty {
      throw .refused(section: "proxy", reason: "\"protocol\" needs the proxies in \"trusted\"")
    }
    if let grace = shutdown.grace, !(0...3_600).contains(grace) {
      throw .refused(section: "shutdown", reason: "\"grace\": \(grace) is not in 0...3600 seconds")
    }
  }

  /// Puts the options of the log in force.
  func applyLog() {
    OperatorLog.level = log.loggerLevel
    OperatorLog.format = log.lineFormat
  }
}
