public import TernTransport

/// Selects links over TCP sockets.
public enum TCPPlugin: TransportPlugin {
  public static var kind: String { "tcp" }

  /// - Throws: `TransportError.notBuilt(kind:trait:)` in a program built without the package
  ///   trait `TCP`; `TransportError.invalidOption(name:reason:)`.
  public static func open(_ options: TCPOptions) throws(TransportError) -> any Transport {
    #if TCP
      return try TCPTransport(options)
    #else
      throw .notBuilt(kind: kind, trait: "TCP")
    #endif
  }
}
