/// A way for two ends to exchange frames: it opens links, and nothing above it knows sockets.
///
/// All links of one transport live on one serial executor. An actor that adopts ``executor`` as
/// its `unownedExecutor` may handle every callback with `assumeIsolated`, without a hop.
public protocol Transport: Sendable {
  /// The executor of every callback of this transport.
  var executor: any SerialExecutor { get }

  /// Runs `work` on ``executor``, behind what is already waiting there; never inline.
  func enqueue(_ work: @escaping @Sendable () -> Void)

  /// The number of configured addresses that links can be opened to, 1 or more. Default: 1.
  var addressCount: Int { get }

  /// Opens a link to the configured address, the first one if there are several.
  ///
  /// - Returns: The link that `open` was given. Frames may have been delivered to its handler
  ///   by the time the caller continues.
  /// - Throws: ``TransportError``; `open` was not called then.
  @discardableResult
  func connect(_ open: @escaping LinkOpening) async throws(TransportError) -> any Link

  /// Opens a link to one of the configured addresses, and tries no other. By default there is one.
  ///
  /// - Parameter address: The number of the address, 0..<``addressCount``, in the order of the
  ///   configuration.
  /// - Returns: The same as ``connect(_:)``.
  /// - Throws: ``TransportError``, which names the address; `open` was not called then.
  @discardableResult
  func connect(
    to address: Int, _ open: @escaping LinkOpening
  ) async throws(TransportError) -> any Link

  /// Accepts links at the configured address until the listener is closed.
  ///
  /// - Throws: ``TransportError/addressInUse(host:port:)`` and its relatives.
  func listen(_ accept: @escaping LinkOpening) async throws(TransportError)
    -> any TransportListener

  /// Closes listeners and links, delivers their last callbacks and frees threads and sockets.
  ///
  /// Calls after it throw ``TransportError/shutDown``. Must not be called on ``executor``.
  func shutdown() async
}

extension Transport {
  public var addressCount: Int { 1 }

  @discardableResult
  public func connect(
    to address: Int, _ open: @escaping LinkOpening
  ) async throws(TransportError) -> any Link {
    precondition(address == 0, "a transport of one address is asked for address \(address)")
    return try await connect(open)
  }
}

/// An executor of a transport with a way of its own to give the turn away. Others are left for a
/// queue beside them.
package protocol YieldingExecutor: SerialExecutor {
  /// Suspends a task of the executor, and lets it go on behind all that waits there.
  func yieldTurn() async
}

/// A listener of a transport.
public protocol TransportListener: Sendable {
  /// The address it listens at, with the real port if the configuration left it to the system.
  var address: String { get }

  /// Accepts no further links; those that are open stay open. Calling it again does nothing.
  func close() async
}
