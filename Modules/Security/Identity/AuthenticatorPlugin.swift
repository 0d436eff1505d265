/// A way of proving identity that the assembler can open by name.
public protocol AuthenticatorPlugin: SendableMetatype {
  /// The options in the section `auth` of a configuration, beside `kind`.
  associatedtype Options: Decodable & Sendable

  /// The `auth.kind` in the configuration that selects this authenticator.
  static var kind: String { get }

  /// Opens the authenticator, ready to judge: keys are read, and are followed from now on.
  ///
  /// - Returns: The authenticator; `nil` when the options name nothing to judge by, so that every
  ///   client stays anonymous.
  static func open(
    _ options: Options, with resources: AuthenticatorResources
  ) async throws(PluginError) -> (any Authenticator)?
}

/// The parts of a program that an authenticator may use.
public struct AuthenticatorResources: Sendable {
  /// The time, in milliseconds since 1970.
  public let now: @Sendable () -> Int64
  /// Registers work for the end, such as no longer following a file.
  public let whenClosed: @Sendable (_ close: @escaping @Sendable () async -> Void) -> Void

  /// Resources, as an assembler or a test supplies them.
  public init(
    now: @escaping @Sendable () -> Int64,
    whenClosed: @escaping @Sendable (_ close: @escaping @Sendable () async -> Void) -> Void
  ) {
    self.now = now
    self.whenClosed = whenClosed
  }
}

/// The reason a plugin of a server did not open: a file that cannot be read, a service that does
/// not answer. The operator corrects it and starts the server again.
public struct PluginError: Error, Hashable, Sendable {
  /// The problem and its remedy, for an operator.
  public let reason: String

  /// An error with a reason in words.
  public init(reason: String) { self.reason = reason }
}
