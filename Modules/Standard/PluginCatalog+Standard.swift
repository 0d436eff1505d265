public import TernAssembly
import TernStorageMemory
import TernStorageSQLite
import TernTransportLoopback
import TernTransportTCP
import TernTransportWebSocket

#if LMDB && os(Linux)
  import TernStorageLMDB
#endif

extension PluginCatalog {
  /// Every storage and transport that ships with Tern.
  ///
  /// Storage: `memory`, `sqlite`, and on Linux `lmdb`, which needs the package trait `LMDB`.
  /// Transport: `loopback`; `tcp` and `websocket`, which need the package trait `TCP`.
  public static var standard: PluginCatalog {
    var catalog = PluginCatalog()
    catalog.register(MemoryPlugin.self)
    catalog.register(SQLitePlugin.self)
    #if LMDB && os(Linux)
      catalog.register(LMDBPlugin.self)
    #endif
    catalog.register(LoopbackPlugin.self)
    catalog.register(TCPPlugin.self)
    catalog.register(WebSocketPlugin.self)
    return catalog
  }
}
