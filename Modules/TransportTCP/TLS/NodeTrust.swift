#if TCP
  import NIOCore
  import NIOSSL
  import Synchronization
  import TernTransport

  /// The trust of a node in the certificates of the other nodes of its cluster.
  ///
  /// The nodes of a cluster are servers of one name, mostly with one certificate, and know each
  /// other by addresses that certificates rarely are for. So the name of the host is not compared.
  final class NodeTrust: Sendable {
    /// The proof that a node demands of another one.
    enum Proof {
      /// The other node has this node's own certificate, with its key. No authority is needed.
      case sameCertificate
      /// The other node's certificate leads to a root, or to a certificate of this node's chain.
      case chain

      /// The proof that may do where this one did not.
      var other: Proof { self == .chain ? .sameCertificate : .chain }
    }

    private struct State {
      /// This node's certificate, and those behind it.
      var chain: [NIOSSLCertificate] = []
      var contexts: [Proof: NIOSSLContext] = [:]
      /// The proof that was good enough last.
      var proof = Proof.sameCertificate
    }

    private let roots: String?
    private let state = Mutex(State())

    /// - Parameter roots: A PEM file with the roots to trust; `nil` for the system's.
    init(roots: String?) { self.roots = roots }

    /// Trusts another chain: that of this node has been read again.
    func replace(_ chain: [NIOSSLCertificate]) {
      state.withLock { $0 = State(chain: chain) }
    }

    /// True when the chain of this node has been read.
    var isKnown: Bool { state.withLock { !$0.chain.isEmpty } }

    /// The proof to demand first.
    var proof: Proof {
      get { state.withLock { $0.proof } }
      set { state.withLock { $0.proof = newValue } }
    }

    /// Secures a connection to another node.
    ///
    /// - Throws: ``TransportError/invalidOption(name:reason:)``.
    func handler(_ proof: Proof) throws(TransportError) -> NIOSSLClientHandler {
      let context = try context(proof)
      do {
        guard proof == .sameCertificate else {
          return try NIOSSLClientHandler(context: context, serverHostname: nil)
        }
        let own = state.withLock { $0.chain.first }
        return try NIOSSLClientHandler(
          context: context, serverHostname: nil,
          customVerificationCallback: { shown, promise in
            promise.succeed(own != nil && shown.first == own ? .certificateVerified : .failed)
          })
      } catch {
        throw .invalidOption(name: "tls.certificate", reason: "\(error)")
      }
    }

    private func context(_ proof: Proof) throws(TransportError) -> NIOSSLContext {
      let (chain, known) = state.withLock { ($0.chain, $0.contexts[proof]) }
      if let known { return known }
      var configuration = TLSConfiguration.makeClientConfiguration()
      configuration.minimumTLSVersion = .tlsv12
      configuration.certificateVerification = .noHostnameVerification
      if proof == .sameCertificate {
        // The handler compares it; reading the system's roots takes a while.
        configuration.trustRoots = .certificates(chain)
      } else if let roots {
        configuration.trustRoots = .certificates(
          try TLSContexts.certificates(in: roots, "tls.roots"))
      }
      configuration.additionalTrustRoots = [.certificates(chain)]
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
