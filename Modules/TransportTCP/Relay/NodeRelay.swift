#if TCP
  import NIOCore
  import Synchronization
  import TernTransport

  /// The part of a node that relays the connections of clients to the node that leads, counts its
  /// own links to that node, and believes what other nodes say about the clients of connections
  /// that they relay to it.
  ///
  /// One for each transport; it may be asked from any thread.
  package final class NodeRelay: Sendable {
    /// The place where clients are served at a moment.
    ///
    /// It is asked anew for each connection, and again while one waits. The answer may change
    /// between two calls.
    package enum Place: Hashable, Sendable {
      /// This node, which leads.
      case here
      /// This node, from its copy: clients alone, and no connection of another node.
      case copy
      /// The node at an address.
      case node(String)
      /// None: a node is about to lead, or is to be found.
      case unknown
    }

    /// The things that a relay is told by its program.
    package struct Setting: Sendable {
      /// The address of this node, as the others know it. It is `ledger.address` of the
      /// configuration. The codes of headers cover it, so all nodes have to spell it alike.
      let address: String
      /// Computes the code of a header under the cluster's secret, which the relay itself never
      /// sees.
      let code: RelayHeader.Coding
      /// Milliseconds since 1970.
      let now: @Sendable () -> Int64
      let randomBits: @Sendable () -> UInt64
      /// Called on event loops; it must not block.
      let place: @Sendable () -> Place

      /// A setting.
      package init(
        address: String, code: @escaping RelayHeader.Coding,
        now: @escaping @Sendable () -> Int64, randomBits: @escaping @Sendable () -> UInt64,
        place: @escaping @Sendable () -> Place
      ) {
        self.address = address
        self.code = code
        self.now = now
        self.randomBits = randomBits
        self.place = place
      }
    }

    /// The figures since the start.
    package struct Figures: Hashable, Sendable {
      /// The connections that are relayed now.
      package var open = 0
      /// The connections that wait for a node that leads.
      package var held = 0
      /// The connections that were relayed to another node.
      package var relayed = 0
      /// The connections whose leader could not be reached.
      package var unreachable = 0
      /// The connections beyond ``RelayLimits/connections``, or of an address that had too many.
      package var refused = 0
      /// The connections that another node had relayed here already.
      package var repeated = 0
      /// The connections that other nodes have relayed here.
      package var accepted = 0
      /// The headers that were not believed: forged, stale, repeated, or too many.
      package var disbelieved = 0
      /// The upstream links that are open or being opened now: links of this node itself to
      /// another one, on behalf of a client.
      package var upstream = 0
      /// The upstream links that were opened.
      package var upstreamOpened = 0
      /// The upstream links whose node could not be reached, or did not prove to be one.
      package var upstreamUnreachable = 0
      /// The upstream links beyond ``RelayLimits/connections``, of an address that had too many, or
      /// without a descriptor.
      package var upstreamRefused = 0
    }

    /// Everything that changes. The lock is held for bookkeeping alone: channels are closed and
    /// waiting connections are woken outside it.
    private struct State {
      /// The nonces of the headers that were believed lately.
      var admission = RelayAdmission()
      /// The channels of clients that are relayed, or are being connected to the leader.
      var open: [ObjectIdentifier: (channel: any Channel, address: String)] = [:]
      /// The connections that wait for a node that leads, each with the function that lets it look
      /// again.
      var held: [ObjectIdentifier: (look: @Sendable () -> Void, address: String)] = [:]
      /// The connections to other nodes, and those that wait, by the address of the client.
      var shares = ConnectionShares()
      var heldShares = ConnectionShares()
      var figures = Figures()
      /// The addresses of nodes that have proved to know the secret, each with the time until which
      /// that counts.
      var nodes: [String: NIODeadline] = [:]
    }

    let setting: Setting
    /// The most connections to other nodes at a time. Relayed connections and upstream links share
    /// it.
    let limit: Int
    /// The longest time that a connection waits for a node that leads, from the first time that it
    /// had to wait. A failed attempt to reach the leader counts as waiting as well.
    let patience: Duration
    /// The longest time that a connection that another node has relayed waits for this one to
    /// lead.
    let copyHold: Duration
    /// The pause between two looks of a connection that waits, in milliseconds.
    let lookMilliseconds: Int64
    private let state = Mutex(State())

    /// A relay that relays nothing yet.
    ///
    /// - Parameters:
    ///   - limit: The most connections to other nodes at a time, upstream links among them.
    ///   - patience: The longest time that a connection waits for a node that leads.
    ///   - copyHold: The longest time that a connection which another node has relayed waits for
    ///     this one to lead, where it is shorter.
    ///   - lookMilliseconds: The pause between two looks of a connection that waits;
    ///     ``lookAgain()`` ends it.
    package init(
      _ setting: Setting, limit: Int = RelayLimits.connections,
      patience: Duration = .seconds(RelayLimits.holdSeconds),
      copyHold: Duration = .seconds(RelayLimits.copyHoldSeconds),
      lookMilliseconds: Int64 = RelayLimits.lookMilliseconds
    ) {
      self.setting = setting
      self.limit = limit
      self.patience = patience
      self.copyHold = copyHold
      self.lookMilliseconds = lookMilliseconds
    }

    /// The figures since the start.
    package var figures: Figures {
      state.withLock { state in
        var figures = state.figures
        figures.open = state.open.count
        figures.held = state.held.count
        return figures
      }
    }

    /// Closes all connections that are relayed, so that their clients connect again: another node
    /// leads, or this one does. Upstream links stay open: they are their owner's to end.
    ///
    /// The number of connections is not changed here: each counts out when its channel has closed.
    package func endAll() {
      for channel in state.withLock({ $0.open.values.map(\.channel) }) {
        channel.close(promise: nil)
      }
    }

    /// Lets all connections that wait for a node that leads look again, because the place where
    /// clients are served may be another one now.
    package func lookAgain() {
      for look in state.withLock({ $0.held.values.map(\.look) }) { look() }
    }

    /// Takes a connection among those that wait for a node that leads; `false` when too many do, or
    /// too many of its client's address.
    ///
    /// - Parameters:
    ///   - client: The address of the client.
    ///   - look: Called on any thread by ``lookAgain()``.
    func hold(
      _ id: ObjectIdentifier, for client: String, _ look: @escaping @Sendable () -> Void
    ) -> Bool {
      state.withLock { state in
        let limit = min(limit, RelayLimits.held)
        guard state.heldShares.enter(client, limit: limit) else { return false }
        state.held[id] = (look, client)
        return true
      }
    }

    /// Takes out a connection that has waited.
    ///
    /// Does nothing for a connection that does not wait.
    func letGo(_ id: ObjectIdentifier) {
      state.withLock { state in
        guard let known = state.held.removeValue(forKey: id) else { return }
        state.heldShares.leave(known.address)
      }
    }

    /// Adds one to a figure. O(1), from any thread.
    func count(_ figure: WritableKeyPath<Figures, Int>) {
      state.withLock { $0.figures[keyPath: figure] += 1 }
    }

    /// Takes a client's connection among those that are relayed; `false` when there are too many,
    /// or too many of the client's address.
    func begin(_ channel: any Channel, for client: String) -> Bool {
      let id = ObjectIdentifier(channel)
      let isTaken = state.withLock { state in
        // `open` counts here at once, before the leader is reached: otherwise many attempts at
        // the same time would pass the limit together.
        guard state.shares.enter(client, limit: limit) else { return false }
        state.open[id] = (channel, client)
        return true
      }
      guard isTaken else { return false }
      channel.closeFuture.whenComplete { _ in self.end(id) }
      return true
    }

    /// Takes a connection out whose leader could not be reached.
    func end(_ channel: any Channel) { end(ObjectIdentifier(channel)) }

    private func end(_ id: ObjectIdentifier) {
      state.withLock { state in
        guard let known = state.open.removeValue(forKey: id) else { return }
        state.shares.leave(known.address)
      }
    }

    /// Counts an upstream link that is to be opened; `false` when there are too many, or too many
    /// of the client's address.
    func beginUpstream(for client: String) -> Bool {
      state.withLock { state in
        guard state.shares.enter(client, limit: limit) else {
          state.figures.upstreamRefused += 1
          return false
        }
        state.figures.upstream += 1
        return true
      }
    }

    /// Counts out an upstream link that has ended, or was not opened.
    func endUpstream(for client: String) {
      state.withLock { state in
        state.figures.upstream -= 1
        state.shares.leave(client)
      }
    }

    /// Returns true when an authentic header is believed.
    ///
    /// - Parameters:
    ///   - header: A header whose code was right. Its time and its nonce are judged here.
    ///   - address: The address that the header came from: that of a node, for a while.
    func admits(_ header: RelayHeader, from address: String? = nil) -> Bool {
      let (now, moment) = (setting.now(), NIODeadline.now())
      return state.withLock { state in
        let verdict = state.admission.admit(header, now: now)
        guard verdict == .admitted else {
          state.figures.disbelieved += 1
          return false
        }
        state.figures.accepted += 1
        if let address {
          // Addresses whose proof has expired are dropped with each new one, so the table stays
          // as small as the cluster.
          state.nodes = state.nodes.filter { $0.value > moment }
          state.nodes[address] = moment + .seconds(RelayLimits.proofSeconds)
        }
        return true
      }
    }

    /// Returns true when a node at this address has lately proved to know the secret: it opens
    /// connections on behalf of many clients.
    func isNode(at address: String) -> Bool {
      let now = NIODeadline.now()
      return state.withLock { ($0.nodes[address] ?? now) > now }
    }

    /// Returns the header for a client's connection to the node at `address`.
    ///
    /// - Parameters:
    ///   - isRemote: See ``RelayedClient/isRemote``.
    ///   - isOfOtherShard: See ``RelayHeader/isOfOtherShard``.
    /// - Returns: `nil` for a client whose address is none of IP. Each call draws a new nonce;
    ///   a header is good for one connection.
    func header(
      for client: ProxyHeader.Client, isRemote: Bool = false, isOfOtherShard: Bool = false,
      to address: String
    ) -> [UInt8]? {
      let nonce = UInt128(setting.randomBits()) << 64 | UInt128(setting.randomBits())
      return RelayHeader(
        client: client, time: setting.now(), nonce: nonce, isRemote: isRemote,
        isOfOtherShard: isOfOtherShard
      ).bytes(to: address, setting.code)
    }
  }
#endif
