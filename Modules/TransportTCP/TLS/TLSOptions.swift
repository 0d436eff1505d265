import TernTransport

/// The encryption of links: TLS 1.2 or later.
///
/// In the configuration, as `tls` of the section `transport`. A server needs `{"certificate":
/// "cert.pem", "key": "key.pem"}`; for a client `{}` trusts the roots of the system. The options of
/// the other end may stand beside it. A program built without the package trait `TLS` answers them
/// with `TransportError.notBuilt(kind:trait:)`.
public struct TLSOptions: Decodable, Hashable, Sendable {
  /// Of a server: a PEM file with its certificate, and behind it those up to a root.
  public var certificate: String?
  /// Of a server: a PEM file with the private key of the certificate.
  public var key: String?
  /// Of a client: a PEM file with the roots it trusts, in the place of the system's.
  public var roots: String?
  /// Of a client: the name that the server's certificate has to be for; its host if left out.
  public var serverName: String?

  /// TLS with the system's trust, and without a certificate.
  public init() {}

  /// Files are not read here: whether they hold what they should is checked when they are used.
  ///
  /// - Throws: `invalidOption` when only one of ``certificate`` and ``key`` is set.
  func validate() throws(TransportError) {
    guard (certificate == nil) == (key == nil) else {
      throw .invalidOption(
        name: certificate == nil ? "tls.certificate" : "tls.key",
        reason: "a certificate and its key belong together")
    }
  }
}
