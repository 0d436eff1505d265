import ArgumentParser
import Foundation
import TernAssembly
import TernGateway
import TernSecurity
import TernServer
import TernStandard

/// `tern serve`: the server.
struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run the server until SIGINT or SIGTERM.",
    discussion: """
      Without arguments: SQLite in ./tern-data, TCP on 127.0.0.1:9000. A configuration file is \
      followed by the environment (TERN_STORAGE_KIND=lmdb) and by these flags. Without rules \
      everything is allowed, to clients on this machine only. Clients of the Firebase Realtime \
      Database come to the same port, over WebSocket and REST. Rules are about trees: documents \
      stay open to clients on this machine, and to nobody else.
      """)

  @Option(help: ArgumentHelp("A configuration file.", valueName: "file"))
  var config: String?

  @Option(help: ArgumentHelp("sqlite, lmdb or memory.", valueName: "kind"))
  var storage: String?

  @Option(help: ArgumentHelp("The folder of the data.", valueName: "folder"))
  var path: String?

  @Option(help: ArgumentHelp("The address to listen at.", valueName: "host"))
  var host: String?

  @Option(help: ArgumentHelp("The port; 0 takes a free one.", valueName: "port"))
  var port: Int?

  @Option(help: ArgumentHelp("Security rules: a JSON file with comments.", valueName: "file"))
  var rules: String?

  @Flag(help: "Listen at an address other machines can reach, and allow everybody everything.")
  var insecure = false

  @Flag(help: "For development: whoever shows the token owner, on this machine, is administrator.")
  var dev = false

  func run() async throws {
    let authorizer = try authorizer()
    do throws(AssemblyError) {
      try await serve(authorizer)
    } catch {
      throw Failure(about: error)
    }
  }

  private func serve(_ authorizer: any Authorizer) async throws(AssemblyError) {
    let signals = StopSignals()
    let configuration: Configuration
    do throws(ConfigurationError) {
      configuration = try Configuration(
        file: config, environment: ProcessInfo.processInfo.environment, flags: flags)
      try checkHost(of: configuration)
    } catch {
      throw .configuration(error)
    }
    let server = try await Assembler(catalog: .standard).server(
      from: configuration, authorizer: authorizer, documentAuthorizer: documentAuthorizer,
      authenticator: authenticator,
      report: { event in
        if case .failed(let error) = event { printError("tern: the server gave up: \(error.text)") }
      },
      openDoors: { server, transport in Gateway.open(to: server, on: transport) })
    greet(server, configuration)
    await signals.wait()
    await server.stop()
    printLine("stopped")
  }

  /// Who decides: the rules if there are any; denials are told to the operator with their id.
  private func authorizer() throws -> any Authorizer {
    guard let rules else { return insecure ? AllowAll() : AllowLocal() }
    return RulesAuthorizer(try RulesFile.rules(at: rules)) { denial in
      printError("tern: \(denial)")
    }
  }

  /// Rules are about trees: with them, documents are open to clients on this machine only.
  private var documentAuthorizer: any DocumentAuthorizer {
    insecure && rules == nil ? AllowAll() : AllowLocal()
  }

  /// Who is who: nobody is anybody, but for the owner of a development server.
  private var authenticator: any Authenticator {
    dev ? OwnerAuthenticator() : NoAuthenticator()
  }

  private var access: String {
    if let rules { return "access: as \(rules) says; nobody is signed in" }
    return insecure
      ? "access: everybody may read and write everything (--insecure)"
      : "access: everything is allowed, to clients on this machine only"
  }

  private var flags: [(section: String, key: String, text: String)] {
    let given: [(String, String, String?)] = [
      ("storage", "kind", storage), ("storage", "path", path), ("transport", "host", host),
      ("transport", "port", port.map { String($0) }),
    ]
    return given.compactMap { section, key, text in text.map { (section, key, $0) } }
  }

  /// The default authorizer asks only whether a client is on this machine.
  private func checkHost(of configuration: Configuration) throws(ConfigurationError) {
    guard let host = configuration.transport.members["host"]?.stringValue,
      !Self.isLoopback(host)
    else { return }
    if dev {
      throw .refused(
        section: "transport",
        reason: "\(host) can be reached by other machines; --dev is for 127.0.0.1 only")
    }
    if insecure { return }
    throw .refused(
      section: "transport",
      reason: """
        \(host) can be reached by other machines, and everything travels in the clear; \
        give --insecure to allow that, or listen at 127.0.0.1
        """)
  }

  static func isLoopback(_ host: String) -> Bool {
    host == "localhost" || host == "::1"
      || (host.hasPrefix("127.") && host.utf8.allSatisfy { "0123456789.".utf8.contains($0) })
  }

  private func greet(_ server: AssembledServer, _ configuration: Configuration) {
    let members = configuration.storage.members
    let kind = members["kind"]?.stringValue ?? ""
    let place = kind == "memory" ? "" : " in \(members["path"]?.stringValue ?? "tern-data")"
    let isDefault = server.address == "127.0.0.1:9000"
    let flag = isDefault ? "" : " --server \(server.address)"
    printLine("storage: \(kind)\(place)")
    printLine(access)
    if dev {
      printError(
        "tern: warning: --dev: every program on this machine can be administrator, as \"owner\"")
    }
    if dev { printLine("for Firebase clients: FIREBASE_DATABASE_EMULATOR_HOST=\(server.address)") }
    printLine("try, in another terminal:")
    printLine("  tern watch greetings\(flag)")
    printLine("  tern push greetings '\"hello\"'\(flag)")
    printLine("listening on \(server.address)")
  }
}
