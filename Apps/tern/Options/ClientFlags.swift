import ArgumentParser
import TernAssembly
import TernClient
import TernCore
import TernStandard
import TernStorage
import TernSync

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The flags for the server to connect to and the storage of the client.
struct ClientFlags: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The server; or several of its addresses with commas between, the next one for when one "
        + "fails. (default: TERN_SERVER, or 127.0.0.1:9000)", valueName: "host[:port]"))
  var server: String?

  @Option(
    help: ArgumentHelp(
      "The database of the tree, ns in addresses of Firebase; of documents, as projects/P/databases/D. "
        + "(default: TERN_DATABASE, or default; documents.project and documents.database)",
      valueName: "name"))
  var ns: String?

  @Option(
    help: ArgumentHelp(
      "Keep data and unsent writes in this folder, and work offline with them.",
      valueName: "folder"))
  var cache: String?

  @Option(help: ArgumentHelp("The storage of --cache: sqlite or lmdb.", valueName: "kind"))
  var storage: String?

  @Option(help: ArgumentHelp("A configuration file.", valueName: "file"))
  var config: String?

  @Flag(help: "Talk to the server over TLS.")
  var tls = false

  @Option(
    help: ArgumentHelp(
      "Over TLS, trust the roots in this PEM file, not the system's.", valueName: "file"))
  var ca: String?

  @Option(
    help: ArgumentHelp(
      "A file with a token that says who asks. (default: what TERN_TOKEN says)", valueName: "file"))
  var token: String?

  @Option(
    help: ArgumentHelp(
      "A server by its name in the file of contexts. (default: TERN_CONTEXT)", valueName: "name"))
  var context: String?

  @Option(
    help: ArgumentHelp(
      "How long to wait for the server: 10, 30s, 5m. (default: 10s; 2s where a cache can answer)",
      valueName: "time"))
  var timeout: TimeArgument?

  @Flag(help: "Print JSON, one object a line.")
  var json = false

  func validate() throws {
    guard timeout.map({ $0.seconds > 0 }) ?? true else {
      throw ValidationError("--timeout must be at least 1")
    }
    guard storage == nil || cache != nil else {
      throw ValidationError("--storage needs --cache: without it nothing is kept")
    }
  }
}

extension ClientFlags {
  /// Opens the client, lends it, and closes it.
  func withClient<R>(_ body: (ClientRun) async throws -> R) async throws -> R {
    let run = try await open()
    do {
      let result = try await body(run)
      await Self.close(run.tern)
      return result
    } catch {
      await Self.close(run.tern)
      throw run.failure(about: error)
    }
  }

  /// The time that the end of a command waits for the other side to close the connection.
  private static let closingPatience = Duration.milliseconds(450)

  /// Closes the client; a server that is silent does not hold up the end of the program. What was
  /// reported durable is so already.
  private static func close(_ tern: TernDatabase) async {
    let closed = Promise<Void>()
    let tasks = [
      Task {
        await tern.close()
        closed.resolve(())
      },
      Task {
        try? await ContinuousClock().sleep(for: closingPatience)
        closed.resolve(())
      },
    ]
    await closed.value(ifCancelled: ())
    tasks[1].cancel()
  }

  /// Opens the client; the caller closes it.
  func open() async throws(Failure) -> ClientRun {
    var options = ClientOptions()
    let patience = timeout?.duration ?? .seconds(10)
    options.readPatience = timeout == nil && cache != nil ? .seconds(2) : patience
    options.namespace = try namespace
    let token = try shownToken()
    let configuration = try configuration()
    do throws(AssemblyError) {
      let news = ConnectionNews(configuration)
      options.report = { news.take($0) }
      let tern = try await Assembler(catalog: .standard).client(
        from: configuration, options: options)
      if let cache, let damage = news.documentQueueDamage {
        // A list of what waits would lack some of it.
        await tern.close()
        throw AssemblyError.queue(damage, path: cache + "/documents/queue")
      }
      if let token { await Self.signIn(token, to: tern) }
      return ClientRun(
        tern: tern, isDurable: cache != nil, timeout: patience, news: news)
    } catch {
      throw Failure(about: error)
    }
  }

  /// Shows a token from now on. When the server refuses it nothing else would ever be answered: the
  /// program ends.
  private static func signIn(_ token: String, to tern: TernDatabase) async {
    tern.auth.whenRefused { shown, reason in if shown == token { endRefused(reason) } }
    do throws(AuthError) {
      try tern.auth.signIn(token: token)
    } catch {
      // Not one that names a user, such as that of the owner of a development server.
      await tern.tree.setCredential(token)
      await tern.documents.setCredential(token)
    }
  }

  /// Lends the stores of the client's two queues, that of documents last, without opening the
  /// client.
  func withQueueStores<R>(
    _ integrity: StoreIntegrity = .pages, _ body: (any OrderedStore, any OrderedStore) throws -> R
  ) async throws -> R {
    do {
      let assembler = Assembler(catalog: .standard)
      var configuration = try configuration()
      try configuration.checkStore(integrity)
      let tree = try await assembler.queueStore(from: configuration, namespace: try namespace)
      defer { tree.close() }
      let documents = try await assembler.documentQueueStore(from: configuration)
      defer { documents.close() }
      return try body(tree, documents)
    } catch {
      throw Failure(about: error)
    }
  }

  private func shownToken() throws(Failure) -> String? {
    if token == nil, let text = Self.variable("TERN_TOKEN")?.trimmed {
      return text.isEmpty ? nil : text
    }
    let place = try ServerContexts.chosen(context)
    guard let token = token ?? place?.token else { return nil }
    let text = String(decoding: try fileBytes(at: token), as: UTF8.self)
      .trimmed
    guard !text.isEmpty else { throw Failure(.usage, "\(token) is empty; it should hold a token") }
    return text
  }

  /// A variable of the environment that says something.
  static func variable(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  private func configuration() throws(Failure) -> Configuration {
    let place = try ServerContexts.chosen(context)
    let address = try address()
    do throws(ConfigurationError) {
      var configuration = try Configuration.reading(file: config, flags: address?.flags ?? [])
      if tls || ca != nil || place?.tls == true || address?.isSecured == true {
        try configuration.askForTLS(["roots": ca ?? place?.ca])
      }
      try configuration.refuseLoopback()
      if let database = try documentDatabase() {
        configuration.documents = .object(
          configuration.documents.members.merging([
            "project": .text(database.projectID), "database": .text(database.databaseID),
          ]) { $1 })
      }
      if let cache {
        configuration.storage = .object(
          configuration.storage.members.merging(
            ["path": .text(cache)].merging(storage.map { ["kind": .text($0)] } ?? [:]) { $1 }
          ) { $1 })
      } else {
        configuration.storage = ["kind": "memory"]
      }
      return configuration
    } catch {
      throw Failure(about: AssemblyError.configuration(error))
    }
  }

  /// The database of documents that `--ns` names, by its resource name.
  private func documentDatabase() throws(ConfigurationError) -> DocumentDatabase? {
    guard let ns, ns.hasPrefix("projects/") else { return nil }
    let parts = ns.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 4, parts[2] == "databases",
      let database = try? DocumentDatabase(projectID: parts[1], databaseID: parts[3])
    else {
      let reason = "--ns \(ns) is no database: projects/P/databases/D names one of documents"
      throw .refused(section: "documents", reason: reason)
    }
    return database
  }

  /// Checks the flags of a command about documents.
  func checkDocuments() throws {
    guard let ns, !ns.hasPrefix("projects/") else { return }
    throw Failure(
      .usage,
      "--ns \(ns) names a database of the tree; one of documents is projects/P/databases/D")
  }

  /// The database of the tree that a flag or a variable names.
  private var namespace: String {
    get throws(Failure) {
      let place = try ServerContexts.chosen(context)
      let named = ns.flatMap { $0.hasPrefix("projects/") ? nil : $0 }
      return named ?? Self.variable("TERN_DATABASE") ?? place?.database
        ?? ClientOptions.defaultNamespace
    }
  }

  /// The addresses that a flag or a variable names.
  private func address() throws(Failure) -> ServerAddressList? {
    if let server { return try ServerAddressList(server, from: "--server") }
    if let text = Self.variable("TERN_SERVER") {
      return try ServerAddressList(text, from: "TERN_SERVER")
    }
    return try ServerContexts.chosen(context)?.server.map { text throws(Failure) in
      try ServerAddressList(text, from: ServerContexts.path)
    }
  }
}

/// Ends the program: the server does not take who asks.
private func endRefused(_ reason: String) -> Never {
  let failure = Failure(.refused, "the server refused the token: \(reason)")
  printError(failure.line)
  endProgram(failure.code)
}
