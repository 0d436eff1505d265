import Synchronization
public import TernTransport

/// Links between two ends of one process: the transport contract without a socket.
///
/// Users of the same object share a network: one end listens, any number connect, and two objects
/// never meet. Deliveries happen in one order on one executor, so a run is repeatable; by hand,
/// nothing moves until ``LoopbackExecutor/runUntilIdle()``.
public final class LoopbackTransport: Transport {
  /// The driver of frame delivery.
  public enum Delivery: Sendable {
    /// The shared pool, as soon as something waits.
    case automatic
    /// The test, by calling ``LoopbackExecutor/runUntilIdle()``; `connect` and `listen` then act
    /// at once on the calling thread.
    case byHand
  }

  /// The network: at most one listener, and the links by number.
  private struct State {
    /// The open listener with its number; `nil` while none listens.
    var accept: (listener: Int, opening: LinkOpening)?
    /// Links that have not told both ends of their closure.
    var pairs: [Int: LoopbackPair] = [:]
    /// Numbers links and listeners; none is used twice.
    var lastNumber = 0
    var isShutDown = false
  }

  /// The longest frame its links carry.
  public let limit: FrameLimit

  /// The serial executor of all links; drives a transport that is delivered by hand.
  public let loop: LoopbackExecutor

  private let delivery: Delivery
  private let state = Mutex(State())

  /// Creates a network of its own, without any end.
  public init(limit: FrameLimit = .standard, delivery: Delivery = .automatic) {
    self.limit = limit
    self.delivery = delivery
    loop = LoopbackExecutor(isByHand: delivery == .byHand)
  }

  public var executor: any SerialExecutor { loop }

  public func enqueue(_ work: @escaping @Sendable () -> Void) {
    loop.add(work)
  }

  /// Opens a link to the listener of the same transport.
  ///
  /// - Throws: `refused` while none listens; `shutDown` after ``shutdown()``.
  @discardableResult
  public func connect(
    _ open: @escaping LinkOpening
  ) async throws(TransportError) -> any Link {
    try await onLoop { () throws(TransportError) in
      try self.openPair(open)
    }.get()
  }

  /// Listens for the links that others open.
  ///
  /// - Throws: `addressInUse` while another listener is open; `shutDown` after ``shutdown()``.
  public func listen(
    _ accept: @escaping LinkOpening
  ) async throws(TransportError) -> any TransportListener {
    try await onLoop { () throws(TransportError) in
      try self.startListening(accept)
    }.get()
  }

  /// Closes every link and the listener. When it returns, the handlers have been told; by hand,
  /// they are told by the next ``LoopbackExecutor/runUntilIdle()``.
  public func shutdown() async {
    _ = await onLoop { () throws(TransportError) in self.endEverything() }
    // Behind the goodbyes that were just queued: they are delivered when this returns.
    _ = await onLoop { () throws(TransportError) in }
  }

  /// Breaks every link, as a network failure would: what is under way is lost at both ends.
  public func cut() {
    let pairs = state.withLock { state in
      defer { state.pairs.removeAll() }
      // In the order of their numbers: the order of a dictionary differs from run to run, and
      // deliveries with it.
      return state.pairs.sorted { $0.key < $1.key }.map(\.value)
    }
    for pair in pairs { pair.cut() }
  }

  /// Forgets a link whose both ends have been told of the closure.
  func forget(_ number: Int) {
    state.withLock { _ = $0.pairs.removeValue(forKey: number) }
  }

  /// Closes a listener, unless another one has taken its place.
  fileprivate func stopListening(_ listener: Int) {
    state.withLock { if $0.accept?.listener == listener { $0.accept = nil } }
  }
}

// MARK: - On the executor

extension LoopbackTransport {
  /// Runs `body` on the executor: by hand at once on the calling thread, otherwise behind all
  /// that waits.
  private func onLoop<R: Sendable>(
    _ body: @escaping @Sendable () throws(TransportError) -> R
  ) async -> Result<R, TransportError> {
    let run: @Sendable () -> Result<R, TransportError> = {
      do throws(TransportError) { return .success(try body()) } catch { return .failure(error) }
    }
    switch delivery {
    case .byHand:
      return loop.runNow(run)
    case .automatic:
      return await withCheckedContinuation { continuation in
        loop.add { continuation.resume(returning: run()) }
      }
    }
  }

  /// Makes both ends of a link. The acceptor's handler is made first; neither gets a frame
  /// before both are installed.
  private func openPair(_ open: LinkOpening) throws(TransportError) -> any Link {
    let (number, accept) = try nextNumber()
    guard let accept else { throw .refused(host: "loopback", port: 0) }
    let pair = LoopbackPair(number: number, limit: limit, transport: self)
    state.withLock { $0.pairs[number] = pair }
    let near = LoopbackLink(pair: pair, side: .opener)
    let far = LoopbackLink(pair: pair, side: .acceptor)
    pair.start(acceptor: accept(far), opener: open(near))
    return near
  }

  /// Registers the listener; the number tells it from one that is opened later.
  private func startListening(
    _ accept: @escaping LinkOpening
  ) throws(TransportError) -> any TransportListener {
    let (number, present) = try nextNumber()
    if present != nil { throw .addressInUse(host: "loopback", port: 0) }
    state.withLock { $0.accept = (number, accept) }
    return LoopbackListener(transport: self, number: number)
  }

  /// Returns a new number and the opening of the present listener.
  ///
  /// - Throws: `shutDown` after the end.
  private func nextNumber() throws(TransportError) -> (Int, LinkOpening?) {
    let answer = state.withLock { state -> (Int, LinkOpening?)? in
      if state.isShutDown { return nil }
      state.lastNumber += 1
      return (state.lastNumber, state.accept?.opening)
    }
    guard let answer else { throw .shutDown }
    return answer
  }

  /// Closes the listener and all links, in the order of their numbers. New links and listeners
  /// are `shutDown` errors from here on.
  private func endEverything() {
    let pairs = state.withLock { state in
      state.isShutDown = true
      state.accept = nil
      defer { state.pairs.removeAll() }
      return state.pairs.sorted { $0.key < $1.key }.map(\.value)
    }
    for pair in pairs {
      pair.close(.acceptor, .closedHere)
      pair.close(.opener, .closedHere)
    }
  }
}

/// The one listener of a loopback.
private struct LoopbackListener: TransportListener {
  let transport: LoopbackTransport
  let number: Int

  var address: String { "loopback" }

  func close() async {
    transport.stopListening(number)
  }
}
