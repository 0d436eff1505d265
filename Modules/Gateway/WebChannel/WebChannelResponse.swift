#if TCP
  import NIOCore

  /// The response that a session over WebChannel sends the server's arrays in; on the event loop.
  final class WebChannelResponse {
    let exchange: WebChannelExchange
    let mode: WebChannelBack
    let begun: NIODeadline
    var lastSent: NIODeadline
    /// Bytes given to the connection that it has not sent.
    var unsentBytes = 0

    init(_ exchange: WebChannelExchange, _ mode: WebChannelBack, at now: NIODeadline) {
      self.exchange = exchange
      self.mode = mode
      begun = now
      lastSent = now
    }
  }
#endif
