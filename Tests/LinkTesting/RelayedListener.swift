#if TCP
  package import TernTransport
  package import TernTransportTCP

  /// A transport that listens at an address that its relay knows: headers are checked with it.
  package struct RelayedListener: Sendable {
    /// The transport that listens.
    package let transport: TCPTransport
    /// The relay that it serves other nodes with.
    package let relay: NodeRelay
    /// The address at which it listens.
    package let address: String

    /// Listens at a free port.
    ///
    /// - Parameters:
    ///   - tls: The certificate to listen with; `nil` for none.
    ///   - adjust: Changes the options of the transport.
    ///   - makeRelay: Makes the relay of the node with an address.
    ///   - prepare: Called before the transport listens.
    ///   - accept: Accepts links.
    package init(
      tls: TLSOptions? = nil, adjust: (inout TCPOptions) -> Void = { _ in },
      relay makeRelay: (_ address: String) -> NodeRelay,
      prepare: (TCPTransport) -> Void = { _ in }, accept: @escaping LinkOpening
    ) async throws {
      // Another program may take the port between the two; then it is another one.
      while true {
        let free = try TCPTransport(TCPOptions(port: 0))
        let address = try await free.listen(accept).address
        await free.shutdown()
        var options = TCPOptions(port: Self.port(of: address))
        options.tls = tls
        adjust(&options)
        let relay = makeRelay(address)
        let transport = try TCPTransport(options)
        transport.relay(over: relay)
        prepare(transport)
        do throws(TransportError) { _ = try await transport.listen(accept) } catch {
          await transport.shutdown()
          guard case .addressInUse = error else { throw error }
          continue
        }
        (self.transport, self.relay, self.address) = (transport, relay, address)
        return
      }
    }

    /// The port at the end of an address.
    package static func port(of address: String) -> Int {
      Int(address.split(separator: ":").last ?? "") ?? 0
    }
  }

  extension NodeRelay {
    /// Waits until the relay's figures pass a test, for at most a minute.
    ///
    /// - Parameter transport: The transport whose loop changes them.
    /// - Returns: The figures that passed; `nil` when they did not in time.
    package func settle(
      on transport: TCPTransport, _ isEnough: (Figures) -> Bool
    ) async -> Figures? {
      let deadline = ContinuousClock.now.advanced(by: .seconds(60))
      while true {
        let figures = figures
        if isEnough(figures) { return figures }
        if ContinuousClock.now >= deadline { return nil }
        // A turn of the transport's loop lies between two looks.
        await withCheckedContinuation { done in transport.enqueue { done.resume() } }
      }
    }
  }
#endif
