#if TLS
  import NIOCore
  import NIOSSL
  import Synchronization
  import TernTransport

  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Android)
    import Android
  #endif

  /// The TLS contexts for the connections of one transport.
  ///
  /// A connection takes the context that is current when it is made, and keeps it: certificates can
  /// be replaced without disturbing connections.
  final class TLSContexts: Sendable {
    /// Contexts are immutable and shared by connections; a new certificate replaces the
    /// context, not its content.
    private struct State {
      /// The protocols that a server offers to clients that ask for one, the preferred one first.
      var protocols: [String] = []
      /// `nil` until the certificate was read once.
      var server: NIOSSLContext?
      /// Made at the first connection, or at once when there is a file with roots.
      var client: NIOSSLContext?
    }

    private let options: TLSOptions
    /// The trust in the other nodes of a cluster.
    let nodes: NodeTrust
    private let state = Mutex(State())

    /// Reads the configured roots, so that a mistake is reported before any connection is made.
    ///
    /// - Throws: ``TransportError/invalidOption(name:reason:)``; in a program built without the
    ///   package trait `TLS`, ``TransportError/notBuilt(kind:trait:)``.
    init(_ options: TLSOptions) throws(TransportError) {
      self.options = options
      nodes = NodeTrust(roots: options.roots)
      if options.roots != nil { _ = try clientContext() }
    }

    /// Offers protocols to clients, from the next reading of the certificate on.
    ///
    /// The order is the server's preference. Clients that ask for no protocol get HTTP/1.1 or
    /// the framing, by their first bytes.
    func offer(_ protocols: [String]) { state.withLock { $0.protocols = protocols } }

    /// Reads the server's certificate and key, also again when they are other ones.
    ///
    /// Both files are read before anything changes. Called for each listener, and again by
    /// ``TCPTransport/reloadCertificate()``; it blocks while it reads the files.
    ///
    /// - Throws: ``TransportError/invalidOption(name:reason:)``; what was there stays.
    func loadCertificate() throws(TransportError) {
      guard let certificate = options.certificate, let key = options.key else {
        throw .invalidOption(
          name: "tls.certificate", reason: "a server needs one, with its key in tls.key")
      }
      // Readability is checked apart from the content, so that the error tells a missing file
      // from a wrong one.
      let chain = try Self.certificates(in: certificate, "tls.certificate")
      try Self.checkReadable(key, "tls.key")
      let context: NIOSSLContext
      do {
        let key = try NIOSSLPrivateKey(file: key, format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
          certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = state.withLock { $0.protocols }
        context = try NIOSSLContext(configuration: configuration)
      } catch {
        throw .invalidOption(
          name: "tls.key",
          reason: "\(key) does not hold the private key of \(certificate), in PEM and unlocked")
      }
      state.withLock { $0.server = context }
      nodes.replace(chain)
    }

    /// Returns the certificates of a PEM file, in their order.
    ///
    /// - Parameter option: The name of the option that names the file, for the error.
    /// - Throws: `invalidOption` for a file that cannot be read, or that holds no certificate.
    static func certificates(
      in file: String, _ option: String
    ) throws(TransportError) -> [NIOSSLCertificate] {
      try checkReadable(file, option)
      guard let found = try? NIOSSLCertificate.fromPEMFile(file), !found.isEmpty else {
        throw .invalidOption(name: option, reason: "\(file) holds no certificate in PEM")
      }
      return found
    }

    /// - Throws: `invalidOption` that tells a missing file from one without permission.
    private static func checkReadable(_ file: String, _ option: String) throws(TransportError) {
      guard unsafe access(file, R_OK) == 0 else {
        let why = errno == ENOENT ? "there is no such file" : "it may not be read"
        throw .invalidOption(name: option, reason: "\(file): \(why)")
      }
    }

    /// Secures a connection that was accepted.
    ///
    /// - Throws: `shutDown` when no certificate was read; a listener reads one before it accepts.
    func secure(accepted channel: any Channel) throws {
      guard let context = state.withLock({ $0.server }) else { throw TransportError.shutDown }
      try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
    }

    /// Checks that a connection to a host can be secured, before it is made.
    ///
    /// - Throws: `invalidOption` for roots that cannot be used, or for a name that TLS cannot send.
    func validate(host: String) throws(TransportError) { _ = try clientHandler(to: host) }

    /// Secures a connection to a host, whose name or address the certificate has to be for.
    ///
    /// - Parameters:
    ///   - timeout: The time that the other end may take to agree.
    ///   - didFail: Receives the reason the connection is not secure, perhaps more than once.
    func secure(
      _ channel: any Channel, to host: String, within timeout: TimeAmount,
      didFail: @escaping @Sendable (any Error) -> Void
    ) throws {
      let pipeline = channel.pipeline.syncOperations
      try pipeline.addHandler(try clientHandler(to: host))
      let wanted = TLSIdentity(options.serverName ?? host)
      try pipeline.addHandler(TLSGate(wanted: wanted, timeout: timeout, didFail: didFail))
    }

    /// Returns the handler of TLS for one connection to a host, which checks the chain and the
    /// name.
    private func clientHandler(to host: String) throws(TransportError) -> NIOSSLClientHandler {
      let context = try clientContext()
      let name = options.serverName ?? host
      // An address is not sent as a name; it is compared with the addresses in the certificate.
      let isAddress = (try? SocketAddress(ipAddress: name, port: 0)) != nil
      do {
        return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : name)
      } catch {
        throw .invalidOption(name: "tls.serverName", reason: "\(name) is no name of a host")
      }
    }

    /// Returns the context of all outgoing connections. Roots are read once and kept; unlike
    /// the server's certificate they are not read again.
    private func clientContext() throws(TransportError) -> NIOSSLContext {
      if let known = state.withLock({ $0.client }) { return known }
      var configuration = TLSConfiguration.makeClientConfiguration()
      configuration.minimumTLSVersion = .tlsv12
      if let roots = options.roots {
        configuration.trustRoots = .certificates(try Self.certificates(in: roots, "tls.roots"))
      }
      let context: NIOSSLContext
      do { context = try NIOSSLContext(configuration: configuration) } catch {
        throw .invalidOption(
          name: "tls.roots", reason: "\(options.roots ?? "the system") has no roots: \(error)")
      }
      state.withLock { $0.client = context }
      return context
    }
  }
#endif
