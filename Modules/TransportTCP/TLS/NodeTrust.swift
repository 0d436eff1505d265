#if TLS
  import NIOCore
  import NIOSSL
  import Synchronization
  import TernTransport

  /// The trust of a node in the certificates of the other nodes of its cluster.
  ///
  /// The nodes of a cluster are servers of one name, mostly with one certificate, and know each
  /// other by addresses that certificates rarely are for. So the name of the host is compared only
  /// where any authority of the system would do.
  final class NodeTrust: Sendable {
    /// The proof that a node demands of another one.
    enum Proof {
      /// The other node has this node's own certificate, with its key. No authority is needed.
      case sameCertificate
      /// The other node's certificate leads to a self-signed certificate of this node's file, or to
      /// one of the file with roots.
      case known
      /// The other node's certificate leads to a root of the system, and is for its host.
      case system
    }

    private struct State {
      /// This node's certificate, and those behind it.
      var chain: [NIOSSLCertificate] = []
      /// The contexts made so far for this chain; cleared with it.
      var contexts: [Proof: NIOSSLContext] = [:]
      /// The proof that was good enough last.
      var proof = Proof.sameCertificate
    }

    private let roots: String?
    /// Contexts are made outside the lock, which takes milliseconds; two threads may make the
    /// same one.
    private let state = Mutex(State())

    /// - Parameter roots: A PEM file with the roots to trust; `nil` for the system's.
    init(roots: String?) { self.roots = roots }

    /// Trusts another chain: that of this node has been read again.
    func replace(_ chain: [NIOSSLCertificate]) {
      state.withLock { $0 = State(chain: chain) }
    }

    /// True when the chain of this node has been read.
    var isKnown: Bool { state.withLock { !$0.chain.isEmpty } }

    /// The proofs that will do, the one that did last first.
    var proofs: [Proof] {
      let first = state.withLock { $0.proof }
      let all: [Proof] = [.sameCertificate, .known] + (roots == nil ? [.system] : [])
      return [first] + all.filter { $0 != first }
    }

    /// Notes the proof that did.
    ///
    /// The next link tries it first, which saves a connection for each proof that fails.
    func note(_ proof: Proof) { state.withLock { $0.proof = proof } }

    /// Checks that a connection to another node can be secured, before it is made.
    ///
    /// - Throws: ``TransportError/invalidOption(name:reason:)``.
    func validate(_ proof: Proof, host: String) throws(TransportError) {
      _ = try handler(proof, to: host)
    }

    /// Secures a connection to another node.
    ///
    /// - Parameters:
    ///   - deadline: The latest end of the time that the other node may take to agree.
    ///   - didFail: Receives the reason the connection is not secure, perhaps more than once.
    func secure(
      _ channel: any Channel, _ proof: Proof, to host: String, until deadline: NIODeadline,
      didFail: @escaping @Sendable (any Error) -> Void
    ) throws {
      let pipeline = channel.pipeline.syncOperations
      try pipeline.addHandler(try handler(proof, to: host))
      try pipeline.addHandler(
        TLSGate(
          wanted: nil, timeout: max(.milliseconds(1), deadline - .now()), until: deadline,
          didFail: didFail))
    }

    /// Returns the handler of TLS for one connection, with the checks that the proof demands.
    private func handler(
      _ proof: Proof, to host: String
    ) throws(TransportError) -> NIOSSLClientHandler {
      let context = try context(proof)
      // An address is not sent as a name; it is compared with the addresses in the certificate.
      let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
      let name = proof == .system && !isAddress ? host : nil
      do {
        guard proof == .sameCertificate else {
          return try NIOSSLClientHandler(context: context, serverHostname: name)
        }
        let own = state.withLock { $0.chain.first }
        return try NIOSSLClientHandler(
          context: context, serverHostname: nil,
          // The library's own check is replaced: equality with this node's certificate is
          // enough, and holds for an expired or self-signed one as well. The handshake proves
          // the key.
          customVerificationCallback: { shown, promise in
            promise.succeed(own != nil && shown.first == own ? .certificateVerified : .failed)
          })
      } catch {
        throw .invalidOption(name: "tls.certificate", reason: "\(error)")
      }
    }

    /// Returns the context of a proof, made at its first use.
    ///
    /// - Throws: `invalidOption` for `tls.roots` when the file cannot be read or the system has
    ///   no roots.
    private func context(_ proof: Proof) throws(TransportError) -> NIOSSLContext {
      let (chain, known) = state.withLock { ($0.chain, $0.contexts[proof]) }
      if let known { return known }
      var configuration = TLSConfiguration.makeClientConfiguration()
      configuration.minimumTLSVersion = .tlsv12
      if proof != .system {
        configuration.certificateVerification = .noHostnameVerification
        var known = chain
        if let roots { known += try TLSContexts.certificates(in: roots, "tls.roots") }
        configuration.trustRoots = .certificates(known)
      }
      let context: NIOSSLContext
      do { context = try NIOSSLContext(configuration: configuration) } catch {
        throw .invalidOption(
          name: "tls.roots", reason: "\(roots ?? "the system") has no roots: \(error)")
      }
      state.withLock { state in
        // The chain may have been replaced meanwhile.
        if state.chain == chain { state.contexts[proof] = context }
      }
      return context
    }
  }
#endif
