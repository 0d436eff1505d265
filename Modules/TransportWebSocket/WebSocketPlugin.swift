public import TernTransport

/// Selects links over WebSockets.
public enum WebSocketPlugin: TransportPlugin {
  public static var kind: String { "websocket" }

  /// - Throws: `TransportError.notBuilt(kind:trait:)` in a program built without the package
  ///   trait `TCP`; `TransportError.invalidOption(name:reason:)`.
  public static func open(_ options: WebSocketOptions) throws(TransportError) -> any Transport {
    #if TCP
      return try WebSocketTransport(options)
    #else
      throw .notBuilt(kind: kind, trait: "TCP")
    #endif
  }
}
