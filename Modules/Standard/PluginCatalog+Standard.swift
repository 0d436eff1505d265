public import TernAssembly
import TernStorageLMDB
import TernStorageMemory
import TernStorageSQLite
import TernTransportLoopback
import TernTransportTCP

extension PluginCatalog {
  /// Every storage and transport that ships with Tern.
  ///
  /// Storage: `memory`, `sqlite`, `lmdb`. Transport: `loopback`, and `tcp`, which needs the
  /// package trait `TCP`.
  public static var standard: PluginCatalog {
    var catalog = PluginCatalog()
    catalog.register(MemoryPlugin.self)
    catalog.register(SQLitePlugin.self)
    catalog.register(LMDBPlugin.self)
    catalog.register(LoopbackPlugin.self)
    catalog.register(TCPPlugin.self)
    return catalog
  }
}
