import TernAssembly
import TernStorage
import TernStorageMemory
import TernTransport
import TernTransportLoopback

/// A storage with options of several types, to see how they are read.
enum FolderPlugin: StoragePlugin {
  struct Options: Decodable, Sendable {
    struct Limits: Decodable, Sendable {
      var rows: Int?
    }

    var pageBytes: Int?
    var isStrict: Bool?
    var ratio: Double?
    var limits: Limits?
    var mirrors: [String]?
  }

  static let kind = "folder"

  static func open(
    _ options: Options, at location: StorageLocation
  ) async throws(StorageError) -> any OrderedStore {
    if location.folder.hasSuffix("readonly") { throw .readOnly(path: location.folder) }
    return MemoryStore()
  }
}

/// Memory, a folder and the loopback.
func testCatalog() -> PluginCatalog {
  var catalog = PluginCatalog()
  catalog.register(MemoryPlugin.self)
  catalog.register(FolderPlugin.self)
  catalog.register(LoopbackPlugin.self)
  return catalog
}

extension Configuration {
  /// Memory and loopback.
  static let inProcess = Configuration(
    storage: ["kind": "memory"], transport: ["kind": "loopback"])
}
