import ArgumentParser
import TernAssembly
import TernCore
import TernServer
import TernServerAssembly
import TernStandard
import TernStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `tern compact`: makes the store of a server as small as its data.
struct Compact: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Remove what deleted and overwritten data have left in a server's store.",
    discussion: """
      The server must not be running. The log of commits is cut, and the files are made as small as \
      what they hold: sqlite and lmdb need free space for a copy meanwhile. A running server does \
      the first by itself within an hour, and uses the space again.
      """)

  @OptionGroup
  var store: StoreFlags

  @Option(
    help: ArgumentHelp("Commits of the log that stay, in whole batches.", valueName: "count"))
  var keepLog: UInt64 = 0

  @OptionGroup var output: JSONFlag

  func run() async throws {
    do {
      let configuration = try Configuration.reading(file: store.config, flags: store.given)
      let folder = try configuration.requireServerStore()
      let before = Self.bytes(in: folder)
      let store = try await Assembler(catalog: .standard).serverStore(from: configuration)
      do {
        defer { store.close() }
        try TernServer.compact(store, keepingLog: keepLog)
      }
      let now = Self.bytes(in: folder)
      output.print(
        "compacted \(folder): \(before) bytes before, \(now) now",
        [
          "folder": .string(folder), "bytesBefore": .integer(Int64(before)),
          "bytes": .integer(Int64(now)),
        ])
    } catch let error as ConfigurationError {
      throw Failure(about: AssemblyError.configuration(error))
    } catch {
      throw Failure(about: error)
    }
  }

  /// The bytes of all files of a folder.
  private static func bytes(in folder: String) -> Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.reduce(0) { $0 + (FileStatus(of: folder + "/" + $1)?.bytes ?? 0) }
  }
}

extension Configuration {
  /// The folder of a server's store that is there: looking must not make one.
  func requireServerStore() throws -> String {
    let folder = (storage.members["path"]?.stringValue ?? "tern-data") + "/server"
    guard FileManager.default.fileExists(atPath: folder) else {
      throw Failure(.notFound, "there is no server's store at \(folder)")
    }
    return folder
  }
}
