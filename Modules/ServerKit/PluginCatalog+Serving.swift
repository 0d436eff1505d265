public import TernAssembly
import TernGateway
import TernServerAssembly
import TernStandard

extension PluginCatalog {
  /// Every storage and transport that ships with Tern, and the gateway: REST, streams and the
  /// protocols of Firebase's clients on the server's own port.
  ///
  /// ```swift
  /// let server = try await Assembler(catalog: .serving).server(from: .standard)
  /// ```
  public static var serving: PluginCatalog {
    var catalog = PluginCatalog.standard
    catalog.register(GatewayPlugin.self)
    return catalog
  }
}
