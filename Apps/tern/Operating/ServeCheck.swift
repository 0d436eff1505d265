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

/// `tern serve --check`: whether a server would start.
struct ServeCheck {
  private let assembler: Assembler
  private let configuration: Configuration
  private let operating: OperatorOptions
  private let access: ServeAccess

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
    note("store", await storeFailure)
    if configuration.ledger.members["secretFile"] != nil {
      note("cluster secret", secretFailure)
    }
    note("port", await portFailure)
    if operating.admin.port != nil { note("admin port", await adminFailure) }
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
  private var storeFailure: Failure? {
    get async {
      let members = configuration.storage.members
      if members["kind"]?.stringValue == "memory" { return nil }
      let path = members["path"]?.stringValue ?? "tern-data"
      guard FileManager.default.fileExists(atPath: path + "/server") else {
        return folderFailure(path)
      }
      do throws(ServerAssemblyError) {
        try await assembler.serverStore(from: configuration).close()
      } catch {
        return Failure(about: error)
      }
      return nil
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

  private var portFailure: Failure? {
    get async {
      let members = configuration.transport.members
      let port = members["port"].flatMap { Int($0.canonicalText) } ?? 9_000
      return await failure(host: members["host"]?.stringValue ?? "127.0.0.1", port: port)
    }
  }

  private var adminFailure: Failure? {
    get async {
      await failure(
        host: operating.admin.host ?? "127.0.0.1", port: operating.admin.port ?? 0)
    }
  }

  private func failure(host: String, port: Int) async -> Failure? {
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
      return Failure(about: ServerAssemblyError.parts(.transport(error)))
    }
    return nil
  }

  /// The end of a link that a client opens in the moment of the check.
  private final class SilentLink: LinkHandler {
    init(_ link: any Link) { link.close() }

    func linkDidReceive(_ frames: [[UInt8]]) {}
    func linkDidClose(_ reason: LinkClosure) {}
  }
}
