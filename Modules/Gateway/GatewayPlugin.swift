public import TernSecurity
public import TernServer

/// Opens the ``Gateway`` on a server's own port, for `{"gateway": {…}}` in the section `endpoints`.
public enum GatewayPlugin: EndpointPlugin {
  /// The options of the gateway in a configuration.
  public struct Options: Decodable, Sendable {
    /// The most connections at once; see ``GatewayLimits/connections``.
    public var connections: Int?
    /// False to serve no console; see ``GatewayOptions/servesConsole``.
    public var console: Bool?

    /// Options with the standard limits, or another one.
    public init(connections: Int? = nil, console: Bool? = nil) {
      self.connections = connections
      self.console = console
    }
  }

  public static let kind = "gateway"

  /// Opens the endpoints on the transport of `resources`.
  ///
  /// - Throws: `PluginError` for a limit of connections below 1; nothing is opened then.
  public static func open(
    _ options: Options, to server: TernServer, with resources: EndpointResources
  ) async throws(PluginError) {
    var limits = GatewayLimits()
    limits.bodyBytes = resources.bodyBytes ?? limits.bodyBytes
    if let connections = options.connections {
      guard connections > 0 else { throw PluginError(reason: "connections must be 1 or more") }
      limits.connections = connections
    }
    var gateway = GatewayOptions(limits: limits)
    gateway.isDevelopment = resources.isDevelopment
    gateway.servesConsole = options.console ?? true
    Gateway.open(
      to: server, on: resources.transport, options: gateway, ambient: resources.environment)
  }
}
