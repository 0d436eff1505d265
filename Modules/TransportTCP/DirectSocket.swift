#if TCP
  import NIOCore

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Android)
    import Android
  #endif

  /// The socket below a channel, for bytes that need not wait behind others.
  ///
  /// Most writes find the socket's buffer empty. Then the pending writes, promises and pipelines of
  /// the channel cost more than the bytes; whatever the socket does not take at once goes that way.
  ///
  /// A `send` on the descriptor bypasses the channel's pipeline, so it is right only where no
  /// handler transforms bytes (no TLS, no tunnel) and the channel holds no pending write.
  /// The owner, ``TCPLink``, checks both.
  struct DirectSocket: Sendable {
    /// The number of the open file. The channel owns it and closes it; this value never does.
    private let descriptor: NIOBSDSocket.Handle

    /// The socket of `channel`; `nil` where sending on it directly is not supported.
    ///
    /// It must not be used any more when the channel is inactive: its number may be another's then.
    init?(of channel: any Channel) {
      #if os(Linux) || os(Android)
        let found = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
          of: NIOBSDSocket.Handle.self
        ) { $0 }
        guard let found else { return nil }
        descriptor = found
      #else
        return nil
      #endif
    }

    /// Moves as many bytes to the socket from the front of `buffer` as it takes now.
    ///
    /// Errors are not reported: the channel meets them again when it is given the rest.
    ///
    /// Called on the event loop of the channel. It never blocks: a full socket takes nothing,
    /// and `buffer` is unchanged.
    func take(_ buffer: inout ByteBuffer) {
      #if os(Linux) || os(Android)
        let sent = unsafe buffer.withUnsafeReadableBytes { bytes in
          // Safe: the call reads `bytes` and keeps no pointer. It neither blocks nor raises
          // SIGPIPE.
          unsafe send(
            descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
        if sent > 0 { buffer.moveReaderIndex(forwardBy: sent) }
      #endif
    }
  }
#endif
