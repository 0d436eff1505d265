#if TCP && !TLS
  import NIOCore
  import TernTransport

  /// Stands for TLS in a build without the package trait `TLS`: there is none, and options that ask
  /// for it are an error.
  ///
  /// No value of it ever exists, because the only initializer throws. The members keep the
  /// callers free of conditions; they have the signatures of the real type.
  struct TLSContexts: Sendable {
    let nodes: NodeTrust

    init(_ options: TLSOptions) throws(TransportError) { throw .withoutTLS }

    func offer(_ protocols: [String]) {}

    func loadCertificate() throws(TransportError) { throw .withoutTLS }

    func secure(accepted channel: any Channel) throws { throw TransportError.withoutTLS }

    func validate(host: String) throws(TransportError) { throw .withoutTLS }

    func secure(
      _ channel: any Channel, to host: String, within timeout: TimeAmount,
      didFail: @escaping @Sendable (any Error) -> Void
    ) throws { throw TransportError.withoutTLS }
  }

  /// Stands for the trust of a node in the same build.
  ///
  /// Its list of proofs is empty, so no upstream link is ever tried with it.
  struct NodeTrust: Sendable {
    enum Proof: Sendable { case system }

    let isKnown = false
    let proofs: [Proof] = []

    func note(_ proof: Proof) {}

    func validate(_ proof: Proof, host: String) throws(TransportError) { throw .withoutTLS }

    func secure(
      _ channel: any Channel, _ proof: Proof, to host: String, until deadline: NIODeadline,
      didFail: @escaping @Sendable (any Error) -> Void
    ) throws { throw TransportError.withoutTLS }
  }

  extension TransportError {
    fileprivate static var withoutTLS: TransportError { .notBuilt(kind: "tls", trait: "TLS") }
  }
#endif
