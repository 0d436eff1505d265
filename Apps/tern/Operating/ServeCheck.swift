import TernAssembly
import TernServerAssembly
import TernStorage
import TernTransport
import TernTransportTCP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `tern serve --check`: the parts with which a server would start, and those without.
///
/// A server that runs already holds its store and its ports: they are told as not checked, and are
/// no failure. A port in use beside a store that is free belongs to another program, and is one.
struct ServeCheck {
  private let assembler: Assembler
  private let configuration: Configuration
  private let operating: OperatorOptions
  private let access: ServeAccess

  /// The outcome of the check of one part.
  private enum Outcome {
    case ok
    case failed(Failure)
    /// Held by another process.
    case held(Failure)
  }

  /// - Parameter access: The rules, which were read already.
  init(
    _ assembler: Assembler, _ configuration: Configuration, _ operating: OperatorOptions,
    _ access: ServeAccess
  ) {
    self.assembler = assembler
    self.configuration = configuration
    self.operating = operating
    self.access = access
  }

  /// Checks each part, and says how it is.
  ///
  /// - Throws: The first failure, after all parts were checked.
  func run() async throws {
    var failures: [Failure] = []
    func note(_ part: String, _ failure: Failure?) {
      printLine("\(part): \(failure?.message ?? "ok")")
      if let failure { failures.append(failure) }
    }
    note("configuration", configurationFailure)
    printLine(access.text)
    note("keys", await keysFailure)
    let store = await storeOutcome
    var isServing = false
    if case .held = store { isServing = true }
    func note(_ part: String, _ outcome: Outcome) {
      switch outcome {
      case .ok: note(part, nil)
      case .held where isServing: printLine("\(part): not checked, a running server holds it")
      case .failed(let failure), .held(let failure): note(part, failure)
      }
    }
    note("store", store)
    if configuration.ledger.members["secretFile"] != nil {
      note("cluster secret", secretFailure)
    }
    note("port", await portOutcome)
    if let port = operating.admin.port, port != 0, port == clientPort {
      let reason = "\(port) is the port for clients, too; the admin listener needs one of its own"
      note("admin port", Failure(.usage, reason))
    } else if let port = operating.admin.port {
      note("admin port", await outcome(host: operating.admin.host ?? "127.0.0.1", port: port))
    }
    if let first = failures.first {
      throw Failure(first.code, "\(failures.count) of the parts would not start")
    }
  }

  private var configurationFailure: Failure? {
    do throws(ConfigurationError) { try assembler.checkServer(configuration) } catch {
      return Failure(about: AssemblyError.configuration(error))
    }
    return nil
  }

  private var keysFailure: Failure? {
    get async {
      do throws(ServerAssemblyError) {
        try await assembler.authenticator(from: configuration).close()
      } catch {
        return Failure(about: error)
      }
      return nil
    }
  }

  private var secretFailure: Failure? {
    do throws(Failure) { _ = try ClusterRelay(configuration) } catch { return error }
    return nil
  }

  /// A store that is not there yet is not made.
  private var storeOutcome: Outcome {
    get async {
      let members = configuration.storage.members
      if members["kind"]?.stringValue == "memory" { return .ok }
      let path = members["path"]?.stringValue ?? "tern-data"
      guard FileManager.default.fileExists(atPath: path + "/server") else {
        return folderFailure(path).map { .failed($0) } ?? .ok
      }
      do throws(ServerAssemblyError) {
        try await assembler.serverStore(from: configuration).close()
      } catch {
        if case .parts(.storage(.inUse, _, _)) = error { return .held(Failure(about: error)) }
        return .failed(Failure(about: error))
      }
      return .ok
    }
  }

  private func folderFailure(_ path: String) -> Failure? {
    var folder = URL(filePath: path)
    while !FileManager.default.fileExists(atPath: folder.path), folder.path != "/" {
      folder.deleteLastPathComponent()
    }
    return FileManager.default.isWritableFile(atPath: folder.path)
      ? nil : Failure(.failed, "\(folder.path) may not be written; check its permissions")
  }

  /// The port for clients.
  private var clientPort: Int {
    configuration.transport.members["port"].flatMap { Int($0.canonicalText) } ?? 9_000
  }

  private var portOutcome: Outcome {
    get async {
      let host = configuration.transport.members["host"]?.stringValue ?? "127.0.0.1"
      return await outcome(host: host, port: clientPort)
    }
  }

  private func outcome(host: String, port: Int) async -> Outcome {
    do throws(TransportError) {
      let transport = try TCPTransport(TCPOptions(host: host, port: port))
      let listener: any TransportListener
      do throws(TransportError) {
        listener = try await transport.listen { SilentLink($0) }
      } catch {
        await transport.shutdown()
        throw error
      }
      await listener.close()
      await transport.shutdown()
    } catch {
      let failure = Failure(about: ServerAssemblyError.parts(.transport(error)))
      if case .addressInUse = error { return .held(failure) }
      return .failed(failure)
    }
    return .ok
  }

  /// The end of a link that a client opens in the moment of the check.
  private final class SilentLink: LinkHandler {
    init(_ link: any Link) { link.close() }

    func linkDidReceive(_ frames: [[UInt8]]) {}
    func linkDidClose(_ reason: LinkClosure) {}
  }
}
