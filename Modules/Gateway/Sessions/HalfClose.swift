#if TCP
  import NIOCore

  /// The closing of connections from this side.
  enum HalfClose {
    /// Sends the last bytes, closes the output, and drops what still comes until the other side
    /// has closed too or time is up: a socket closed with unread bytes in it would take back what
    /// it has just sent.
    ///
    /// - Returns: The timer that ends the wait; to be cancelled when the channel is inactive.
    static func end(
      _ channel: any Channel, behind last: ByteBuffer, within time: TimeAmount
    ) -> Scheduled<Void> {
      setReading(true, channel)
      let sent = channel.eventLoop.makePromise(of: Void.self)
      sent.futureResult.whenSuccess { channel.close(mode: .output, promise: nil) }
      channel.writeAndFlush(last, promise: sent)
      return channel.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }

    /// Stops or resumes reading from a channel; a closed one is left alone.
    static func setReading(_ isOn: Bool, _ channel: any Channel) {
      try? channel.syncOptions?.setOption(.autoRead, value: isOn)
    }
  }
#endif
