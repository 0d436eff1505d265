public import TernAssembly
import TernStorageMemory
import TernStorageSQLite
import TernTransportTCP

extension PluginCatalog {
  /// The parts of an app under Firebase's names: `sqlite` and `memory`, and `tcp`. SQLite is the
  /// only library of the system that they need.
  ///
  /// Apps with other parts pass an assembler of their own; `TernStandard` has all that ship.
  public static var firebase: PluginCatalog {
    var catalog = PluginCatalog()
    catalog.register(MemoryPlugin.self)
    catalog.register(SQLitePlugin.self)
    catalog.register(TCPPlugin.self)
    return catalog
  }
}
