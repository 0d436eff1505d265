/// A transport the assembler can open by name.
public protocol TransportPlugin: SendableMetatype {
  /// This transport's own section of the configuration.
  associatedtype Options: Decodable & Sendable

  /// The `transport.kind` in the configuration that selects this transport.
  static var kind: String { get }

  /// Makes a transport that has opened nothing yet: no port, no link.
  static func open(_ options: Options) throws(TransportError) -> any Transport
}
