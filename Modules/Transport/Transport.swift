/// A way for two ends to exchange frames: it opens links, and nothing above it knows sockets.
///
/// All links of one transport live on one serial executor. An actor that adopts ``executor`` as
/// its `unownedExecutor` may handle every callback with `assumeIsolated`, without a hop.
public protocol Transport: Sendable {
  /// The executor of every callback of this transport.
  var executor: any SerialExecutor { get }

  /// Runs `work` on ``executor``, behind what is already waiting there; never inline.
  func enqueue(_ work: @escaping @Sendable () -> Void)

  /// Opens a link to the configured address.
  ///
  /// - Returns: The link that `open` was given. Frames may have been delivered to its handler
  ///   by the time the caller continues.
  /// - Throws: ``TransportError``; `open` was not called then.
  @discardableResult
  func connect(_ open: @escaping LinkOpening) async throws(TransportError) -> any Link

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

/// A listener of a transport.
public protocol TransportListener: Sendable {
  /// The address it listens at, with the real port if the configuration left it to the system.
  var address: String { get }

  /// Accepts no further links; those that are open stay open. Calling it again does nothing.
  func close() async
}
