#if TCP
  import NIOCore

  /// Messages of gRPC as they travel: each behind a flag and its length.
  ///
  /// Layout of each: the flag in 1 byte (1 for compressed), the length in 4 bytes, most
  /// significant first, the message. A buffer of messages that many calls get is built once and
  /// shared.
  struct GRPCMessageBuffer: Sendable {
    /// The messages, ready to be sent as one piece of data.
    private(set) var bytes: ByteBuffer

    /// Puts messages that are not compressed one behind the other.
    init(_ messages: [[UInt8]]) {
      let head = GRPCMessageReader.headBytes
      bytes = ByteBuffer()
      bytes.reserveCapacity(messages.reduce(0) { $0 + head + $1.count })
      for message in messages { append(message, flag: 0) }
    }

    /// A single message.
    init(_ message: [UInt8], isCompressed: Bool) {
      bytes = ByteBuffer()
      bytes.reserveCapacity(GRPCMessageReader.headBytes + message.count)
      append(message, flag: isCompressed ? 1 : 0)
    }

    /// - Parameter message: At most 2^32 - 1 bytes.
    private mutating func append(_ message: [UInt8], flag: UInt8) {
      bytes.writeInteger(flag)
      bytes.writeInteger(UInt32(message.count))
      bytes.writeBytes(message)
    }
  }
#endif
