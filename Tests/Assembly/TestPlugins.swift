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

    let path: String
    var pageBytes: Int?
    var isStrict: Bool?
    var ratio: Double?
    var limits: Limits?
    var mirrors: [String]?
    var durability: Durability?
  }

  static let kind = "folder"

  static func open(_ options: Options) async throws(StorageError) -> any OrderedStore {
    if options.path.hasSuffix("readonly") { throw .readOnly(path: options.path) }
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
