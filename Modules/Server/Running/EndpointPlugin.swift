public import TernSecurity
public import TernSync
public import TernTransport

/// An endpoint for foreign clients that the assembler can open by name.
///
/// Every endpoint that a program registers is opened, unless the section `endpoints` of the
/// configuration says `false` under its kind.
public protocol EndpointPlugin: SendableMetatype {
  /// The endpoint's options: what the section `endpoints` holds under ``kind``; an empty object
  /// when it holds nothing there, or `true`.
  associatedtype Options: Decodable & Sendable

  /// The key of the endpoint in the section `endpoints`.
  static var kind: String { get }

  /// Opens the endpoint; runs before the server accepts any client.
  static func open(
    _ options: Options, to server: TernServer, with resources: EndpointResources
  ) async throws(PluginError)
}

/// The parts of a program that an endpoint may use.
public struct EndpointResources: Sendable {
  /// The transport that the server lives on and listens at. An endpoint that knows another kind of
  /// transport only opens nothing.
  public let transport: any Transport
  /// The source of time and randomness.
  public let environment: RuntimeEnvironment
  /// The most bytes of one request's body, `limits.bodyBytes`; `nil` for the endpoint's own limit.
  public let bodyBytes: Int?
  /// True on a server for development, where an endpoint may offer what emulators do.
  public let isDevelopment: Bool
  /// Registers work for the end: it runs before the server stops, in the reverse order of the
  /// registrations.
  public let whenClosed: @Sendable (_ close: @escaping @Sendable () async -> Void) -> Void

  /// Resources, as an assembler or a test supplies them.
  public init(
    transport: any Transport, environment: RuntimeEnvironment = .system, bodyBytes: Int? = nil,
    isDevelopment: Bool = false,
    whenClosed: @escaping @Sendable (_ close: @escaping @Sendable () async -> Void) -> Void
  ) {
    self.transport = transport
    self.environment = environment
    self.bodyBytes = bodyBytes
    self.isDevelopment = isDevelopment
    self.whenClosed = whenClosed
  }
}
