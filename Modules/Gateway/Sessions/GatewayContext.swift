#if TCP
  import Dispatch
  import NIOCore
  import Synchronization
  import TernCore
  import TernLedger
  import TernServer
  import TernTransport
  import TernTransportTCP

  /// The state that all connections of one gateway share.
  struct GatewayContext: Sendable {
    let options: GatewayOptions
    /// Asks the server something without a session; answered on the event loop.
    let ask: @Sendable (DirectRequest, @escaping @Sendable (DirectAnswer) -> Void) -> Void
    /// Begins to tell a large node of a database; `nil` when that is done too often already.
    let export:
      @Sendable (
        TreePath, TreeNode.JSONForm, String, DirectRequest?, String,
        @escaping @Sendable (TreeExport.Event) -> Void
      ) -> TreeExport?
    /// Opens a session with the server.
    let open: LinkOpening
    /// Adds the framing of our own clients above a WebSocket.
    let installLink: LinkInstallation
    /// The bytes held now, over all connections.
    let load: GatewayLoad
    /// The sessions over long polling; on the event loop.
    let polls: NIOLoopBound<PollTable>
    /// Draws 64 random bits.
    let randomBits: @Sendable () -> UInt64
    /// The sessions over WebChannel, which all connections share.
    var channels = WebChannelTables()
    /// Begins to tell everything that the server stores; `nil` when that is done too often already,
    /// or the server's ledger cannot.
    var backUp:
      @Sendable (
        BackupIndex?, DirectRequest, String, @escaping @Sendable (TreeExport.Event) -> Void
      ) -> TreeExport? = { _, _, _, _ in nil }
    /// The proxies whose word about their clients counts.
    var proxies = TrustedProxies()
    /// The services for operators.
    var admin = AdminServices()
    /// Returns true when the data of the database of that name are in this server's store.
    var holds: @Sendable (String) -> Bool = { _ in true }
  }

  /// Counts what connections hold together, on their one event loop.
  final class GatewayLoad: Sendable {
    private let state = Mutex(State())
    /// Bounds what the server holds for all clients.
    let budget: MemoryBudget

    /// The queue on which large bodies are parsed, one after the other.
    let parser = DispatchQueue(label: "tern.requests")

    init(_ budget: MemoryBudget) { self.budget = budget }

    private struct State {
      var figures = GatewayFigures()
      var connections = ConnectionShares()
      /// The connections of HTTP/2 with streams that wait to begin.
      var holding = 0
      var bodyBytes = 0
      var answerBytes = 0
    }

    /// Counts a connection in; `false`, and not counted, when there are too many of all addresses,
    /// or of this one.
    ///
    /// - Parameters:
    ///   - address: The client's address, without its port.
    ///   - limit: The most connections of all addresses.
    ///   - isProxy: True for a trusted proxy, which has no share.
    func enter(_ address: String, limit: Int, isProxy: Bool) -> Bool {
      state.withLock { $0.connections.enter(address, limit: limit, isProxy: isProxy) }
    }

    /// The figures so far, and what is held now.
    var figures: GatewayFigures {
      state.withLock { state in
        var figures = state.figures
        figures.connections = state.connections.count
        figures.bodyBytes = state.bodyBytes
        figures.answerBytes = state.answerBytes
        return figures
      }
    }

    /// Counts an answer to a request over HTTP.
    func count(status: Int, microseconds: Int64) {
      state.withLock { $0.figures.count(status: status, microseconds: microseconds) }
    }

    /// Counts a connection out that ``enter(_:limit:isProxy:)`` has counted in.
    func leave(_ address: String) { state.withLock { $0.connections.leave(address) } }

    /// Counts a connection with streams that wait to begin, and returns the number of others.
    func beginHolding() -> Int {
      state.withLock { state in
        defer { state.holding += 1 }
        return state.holding
      }
    }

    /// Counts out a connection whose streams have begun, or that is gone.
    func endHolding() { state.withLock { $0.holding -= 1 } }

    /// Counts bytes of a body in; `false`, and not counted, when too many are held.
    ///
    /// The bytes are charged to the budget as well, for ``MemoryBudget/Use/receiving``. Two
    /// bounds hold: the share of the address, and `limit` over all connections.
    func hold(_ bytes: Int, limit: Int, for address: String) -> Bool {
      guard budget.charge(bytes, .receiving, to: address) else { return false }
      let fits = state.withLock { state in
        guard state.bodyBytes + bytes <= limit else { return false }
        state.bodyBytes += bytes
        return true
      }
      if !fits { budget.release(bytes, .receiving, of: address) }
      return fits
    }

    /// Counts bytes of an answer in; `false`, and not counted, when too many wait to be sent.
    func holdAnswer(_ bytes: Int, limit: Int, for address: String) -> Bool {
      guard budget.charge(bytes, .answers, to: address) else { return false }
      let fits = state.withLock { state in
        guard state.answerBytes + bytes <= limit else { return false }
        state.answerBytes += bytes
        return true
      }
      if !fits { budget.release(bytes, .answers, of: address) }
      return fits
    }

    /// Counts an answer in that has to be sent, whatever the client's address holds.
    func countAnswer(_ bytes: Int, for address: String) {
      budget.count(bytes, .answers, to: address)
      state.withLock { $0.answerBytes += bytes }
    }

    /// Counts an answer in.
    ///
    /// - Returns: The answer to send and its counted bytes: `response`, or one that asks the client
    ///   to wait when its address may hold no more. The outcome of a write is never replaced; an
    ///   address that holds too much has its next requests refused, before they are decided.
    func hold(
      _ response: HTTPResponse, _ limits: GatewayLimits, for address: String
    ) -> (HTTPResponse, Int) {
      let count = response.body.count
      if holdAnswer(count, limit: limits.heldAnswerBytes, for: address) { return (response, count) }
      guard response.isOutcome else {
        return (RESTError(503, "Too many answers wait to be read. Try again.").response, 0)
      }
      countAnswer(count, for: address)
      return (response, count)
    }

    /// Counts bytes of an answer out: they were sent, or never will be.
    func releaseAnswer(_ bytes: Int, for address: String) {
      if bytes == 0 { return }
      state.withLock { $0.answerBytes -= bytes }
      budget.release(bytes, .answers, of: address)
    }

    /// Counts bytes of a body out: they were handed on, or dropped.
    func release(_ bytes: Int, for address: String) {
      if bytes == 0 { return }
      state.withLock { $0.bodyBytes -= bytes }
      budget.release(bytes, .receiving, of: address)
    }
  }
#endif
