public import ArgumentParser
import Foundation
import TernAssembly
public import TernKit
import TernStandard

/// The flags of a sample program that say where its data are, which server it talks to, and as
/// which user.
///
/// The program's own defaults come first, then the file of `--config`, then the environment
/// (`TERN_STORAGE_KIND=lmdb`), then the flags. Nothing is opened before all of it is checked.
public struct ClientSetup: ParsableArguments {
  @Option(help: ArgumentHelp("A configuration file in JSON.", valueName: "file"))
  var config: String?

  @Option(
    help: ArgumentHelp(
      "The server: host or host:port, or ws://host for a WebSocket. (default: 127.0.0.1)",
      valueName: "address"))
  var server: String?

  @Option(help: ArgumentHelp("The tree database, ns in addresses of Firebase.", valueName: "name"))
  var ns: String?

  @Option(help: ArgumentHelp("Keep the device's data in this folder.", valueName: "folder"))
  var path: String?

  @Option(help: ArgumentHelp("The storage: sqlite, lmdb or memory.", valueName: "kind"))
  var storage: String?

  @Option(help: ArgumentHelp("A file with the token of a user.", valueName: "file"))
  var token: String?

  @Flag(help: "Talk to the server over TLS.")
  var tls = false

  @Option(
    help: ArgumentHelp(
      "Over TLS, trust the roots in this PEM file, not the system's.", valueName: "file"))
  var ca: String?

  /// Creates flags that say nothing.
  public init() {}

  /// Opens the client.
  ///
  /// - Parameter folder: The place of the data unless something else is said; `nil` keeps them in
  ///   memory.
  public func open(keepingIn folder: String?) async throws -> TernDatabase {
    let environment = ProcessInfo.processInfo.environment
    var options = ClientOptions()
    options.namespace = ns ?? environment["TERN_DATABASE"] ?? ClientOptions.defaultNamespace
    options.report = TernOptions().report
    let tern = try await Assembler(catalog: .standard).client(
      from: try configuration(folder, environment), options: options)
    do {
      if let token = try token.map(Self.text(of:)) ?? environment["TERN_TOKEN"] {
        try tern.auth.signIn(token: token)
      }
      return tern
    } catch {
      await tern.close()
      throw error
    }
  }

  /// Collects what all sources say, the weakest first.
  func configuration(
    _ folder: String?, _ environment: [String: String]
  ) throws -> Configuration {
    var configuration = Configuration.standard
    configuration.storage =
      if let folder { ["kind": "sqlite", "path": .string(folder)] } else { ["kind": "memory"] }
    if let config {
      try configuration.apply(
        json: Array(try Data(contentsOf: URL(filePath: config))), named: config)
    }
    configuration.apply(environment: environment)
    for (section, key, value) in try flags(environment) {
      try configuration.set(value, for: key, in: section, origin: "flag \(key)")
    }
    return configuration
  }

  private func flags(
    _ environment: [String: String]
  ) throws -> [(section: String, key: String, value: ConfigurationValue)] {
    var flags: [(section: String, key: String, value: ConfigurationValue)] = []
    var isSecured = tls || ca != nil
    if let text = server ?? environment["TERN_SERVER"] {
      let addresses = try ServerAddress.list(text)
      let address = addresses[0]
      let places = addresses.map { "\(TCPAddress(host: $0.host, port: $0.port))" }
      let host = addresses.count == 1 ? address.host : places.joined(separator: ",")
      flags.append(("transport", "host", .string(host)))
      flags.append(("transport", "port", .integer(Int64(address.port))))
      if address.scheme != .tcp { flags.append(("transport", "kind", "websocket")) }
      if let path = address.path { flags.append(("transport", "path", .string(path))) }
      isSecured = isSecured || address.scheme == .secureWebSocket
    }
    if isSecured {
      flags.append(("transport", "tls", ca.map { ["roots": .string($0)] } ?? [:]))
    }
    if let path { flags.append(("storage", "path", .string(path))) }
    if let storage { flags.append(("storage", "kind", .string(storage))) }
    return flags
  }

  private static func text(of file: String) throws -> String {
    try String(contentsOfFile: file, encoding: .utf8)
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
