import ArgumentParser
import TernAssembly
import TernSecurity
import TernServer
import TernServerAssembly
import TernStandard
import TernTokens

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `tern exec`: a command beside a server of its own, as `firebase emulators:exec` runs one.
struct Exec: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run a command, such as a test suite, beside a server of its own.",
    discussion: """
      Starts a server for development on a free port of 127.0.0.1, with everything in memory, runs \
      the command, and ends with its exit code. Rules are those of firebase.json, database.rules.json \
      and firestore.rules in this folder, or those that are named. The command finds the server in \
      FIREBASE_DATABASE_EMULATOR_HOST, FIRESTORE_EMULATOR_HOST, FIREBASE_EMULATOR_HUB and TERN_SERVER, \
      and the project in GCLOUD_PROJECT. A single word with spaces is run by the shell.

        tern exec -- npm test
        tern exec 'TERN_TOKEN=owner tern import / seed.json --yes && npm test'

      The token owner is an administrator's here: rules do not bind it. tern doc uses the project in \
      GCLOUD_PROJECT.
      """)

  @Option(help: ArgumentHelp("Security rules: a JSON file with comments.", valueName: "file"))
  var rules: String?

  @Option(
    help: ArgumentHelp("Security rules for documents: a firestore.rules.", valueName: "file"))
  var documentRules: String?

  @Option(help: ArgumentHelp("The project in GCLOUD_PROJECT, if it is not set.", valueName: "id"))
  var project = "demo-project"

  @Argument(
    parsing: .captureForPassthrough,
    help: ArgumentHelp("The program and its arguments.", valueName: "command"))
  var command: [String] = []

  func run() async throws {
    var words = command
    // Everything behind the options is the program's, but no program has the name of a flag.
    switch words.first {
    case "--help", "-h": throw CleanExit.helpRequest(self)
    case "--version": throw CleanExit.message(ProgramVersion.text)
    case let word? where word.hasPrefix("-") && word != "--":
      throw Failure(.usage, "unknown option '\(word)'; see: tern exec --help")
    default: break
    }
    if words.first == "--" { words.removeFirst() }
    guard !words.isEmpty else {
      throw Failure(.usage, "no command to run; see: tern exec --help")
    }
    let server = try await start()
    let code: Int32
    do {
      code = try await ForegroundProcess.run(
        words.count == 1 && words[0].contains(" ") ? ["/bin/sh", "-c", words[0]] : words,
        environment: variables(of: server.address))
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
    if code != 0 { endProgram(code: code) }
  }

  /// Starts the server. Its log is quiet below warnings unless `TERN_LOG_LEVEL` says otherwise: the
  /// output is the command's.
  private func start() async throws -> AssembledServer {
    do {
      let here = try FirebaseProject.here()
      let access = try ServeAccess(
        rules: rules ?? here.rules,
        documentFiles: try DocumentRulesFiles.find(documentRules, here),
        isInsecure: false, isDevelopment: true)
      let configuration = try Configuration.reading(file: nil, flags: Self.settings)
      let operating = try OperatorOptions(of: configuration)
      operating.applyLog()
      return try await Assembler(catalog: .serving).server(
        from: configuration, authorizer: access.authorizer,
        documentAuthorizer: access.documentAuthorizer,
        authenticator: OwnerAuthenticator(others: MockUserAuthenticator()), isDevelopment: true,
        prepare: { server, transport in
          access.recent.use(server)
          OperatedServer.prepare(server, transport, operating)
        })
    } catch let error as ConfigurationError {
      throw Failure(about: AssemblyError.configuration(error))
    } catch {
      throw Failure(about: error)
    }
  }

  /// The settings that no variable changes, and the level of the log when none says it.
  private static var settings: [(section: String, key: String, text: String)] {
    var settings = [
      (section: "storage", key: "kind", text: "memory"),
      (section: "ledger", key: "kind", text: "embedded"),
      (section: "transport", key: "host", text: "127.0.0.1"),
      (section: "transport", key: "port", text: "0"),
    ]
    if ProcessInfo.processInfo.environment["TERN_LOG_LEVEL"] == nil {
      settings.append((section: "log", key: "level", text: "warning"))
    }
    return settings
  }

  /// The variables of the command: those of this program, and where the server is, under the names
  /// that Firebase's clients and tools read.
  private func variables(of address: String) -> [String: String] {
    var variables = ProcessInfo.processInfo.environment
    for name in [
      "FIREBASE_DATABASE_EMULATOR_HOST", "FIRESTORE_EMULATOR_HOST",
      "FIREBASE_FIRESTORE_EMULATOR_ADDRESS", "FIREBASE_EMULATOR_HUB", "TERN_SERVER",
    ] { variables[name] = address }
    // They name another server, which these clients would prefer.
    for name in ["TERN_CONTEXT", "TERN_TOKEN"] { variables[name] = nil }
    if variables["GCLOUD_PROJECT"] == nil { variables["GCLOUD_PROJECT"] = project }
    // What `tern doc` writes is there for the clients under test.
    if variables["TERN_DOCUMENTS_PROJECT"] == nil {
      variables["TERN_DOCUMENTS_PROJECT"] = variables["GCLOUD_PROJECT"]
    }
    return variables
  }
}
