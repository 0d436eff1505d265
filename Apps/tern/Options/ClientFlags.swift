import ArgumentParser
import Foundation
import TernAssembly
import TernClient
import TernStandard
import TernStorage
import TernSync

/// Which server a command talks to, and what it keeps.
struct ClientFlags: ParsableArguments {
  @Option(help: ArgumentHelp("The server. (default: 127.0.0.1:9000)", valueName: "host:port"))
  var server: String?

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
    help: ArgumentHelp("A file with a token that says who asks.", valueName: "file"))
  var token: String?

  @Option(help: ArgumentHelp("How long to wait for the server.", valueName: "seconds"))
  var timeout: Int = 10

  @Flag(help: "Print JSON, one object a line.")
  var json = false

  func validate() throws {
    guard timeout > 0 else { throw ValidationError("--timeout must be at least 1") }
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
  private static func close(_ tern: Tern) async {
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
    options.readPatience = .seconds(cache == nil ? timeout : min(timeout, 2))
    let token = try shownToken()
    do throws(AssemblyError) {
      let configuration = try configuration()
      let news = ConnectionNews(configuration)
      options.report = { news.take($0) }
      let tern = try await Assembler(catalog: .standard).client(
        from: configuration, options: options)
      if let token { await Self.signIn(token, to: tern) }
      return ClientRun(
        tern: tern, isDurable: cache != nil, timeout: .seconds(timeout), news: news)
    } catch {
      throw Failure(about: error)
    }
  }

  /// Shows a token from now on. When the server refuses it nothing else would ever be answered: the
  /// program ends.
  private static func signIn(_ token: String, to tern: Tern) async {
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
      let tree = try await assembler.queueStore(from: configuration)
      defer { tree.close() }
      let documents = try await assembler.documentQueueStore(from: configuration)
      defer { documents.close() }
      return try body(tree, documents)
    } catch {
      throw Failure(about: error)
    }
  }

  private func shownToken() throws(Failure) -> String? {
    guard let token else { return nil }
    let text = String(decoding: try fileBytes(at: token), as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    guard !text.isEmpty else { throw Failure(.usage, "\(token) is empty; it should hold a token") }
    return text
  }

  private func configuration() throws(AssemblyError) -> Configuration {
    do throws(ConfigurationError) {
      var configuration = try Configuration(
        file: config, environment: ProcessInfo.processInfo.environment,
        flags: try serverFlags())
      if tls || ca != nil {
        try configuration.askForTLS(["roots": ca])
      }
      try configuration.refuseLoopback()
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
      throw .configuration(error)
    }
  }

  private func serverFlags() throws(ConfigurationError) -> [(String, String, String)] {
    guard let server else { return [] }
    let parts = server.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count >= 2, let port = Int(parts[parts.count - 1]), (1...65_535).contains(port)
    else { throw .refused(section: "--server", reason: "\"\(server)\" is not host:port") }
    let host = parts.dropLast().joined(separator: ":")
    return [("transport", "host", host), ("transport", "port", String(port))]
  }
}

/// Ends the program: the server does not take who asks.
private func endRefused(_ reason: String) -> Never {
  printError("tern: the server refused the token: \(reason)")
  exit(Outcome.refused.rawValue)
}
