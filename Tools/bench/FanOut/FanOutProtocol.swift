#if TCP
  import NIOCore

  /// The protocol of a fan-out client for one kind of server: all it needs to subscribe, publish
  /// and count, so that every server is measured by the same program.
  struct FanOutProtocol: Sendable {
    /// The first bytes of a subscriber.
    let subscribe: [UInt8]
    /// The first bytes of a publisher.
    let greeting: [UInt8]
    /// The bytes that publish one message; the number is free to use.
    let publish: @Sendable (Int) -> [UInt8]
    /// Removes whole messages from the front of what a subscriber has received, and counts.
    let take: @Sendable (inout ByteBuffer) -> Taken

    /// The messages taken from a subscriber's bytes.
    struct Taken {
      /// Published messages.
      var messages = 0
      /// Answers that confirm the subscription.
      var confirmations = 0
      /// The bytes that the subscriber sends next.
      var reply: [UInt8] = []
    }
  }

  extension FanOutProtocol {
    /// The relay of this program, over the transport's own frames.
    static func relay(payload: [UInt8]) -> FanOutProtocol {
      let preamble: [UInt8] = [0x54, 0x45, 0x52, 0x4E, 0, 0, 0, 1]
      return FanOutProtocol(
        subscribe: preamble + [0, 0, 0, 1, UInt8(ascii: "s")],
        greeting: preamble + [0, 0, 0, 1, UInt8(ascii: "p")],
        publish: { _ in lengthPrefix(payload.count) + payload },
        take: { takeFrames(&$0, messageBytes: payload.count) })
    }

    /// Publish and subscribe of a redis server, on one channel.
    static func redis(payload: [UInt8]) -> FanOutProtocol {
      let head = Array("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$\(payload.count)\r\n".utf8)
      let messageBytes = head.count + payload.count + 2
      let confirmed = Array("*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n".utf8).count
      let command = Array("*3\r\n$7\r\nPUBLISH\r\n$1\r\nc\r\n$\(payload.count)\r\n".utf8)
      return FanOutProtocol(
        subscribe: Array("SUBSCRIBE c\r\n".utf8), greeting: [],
        publish: { _ in command + payload + [13, 10] },
        take: { buffer in
          var taken = Taken()
          // The answer to SUBSCRIBE differs from a message in its sixth byte.
          if buffer.getInteger(at: buffer.readerIndex + 5, as: UInt8.self) == UInt8(ascii: "9") {
            guard buffer.readableBytes >= confirmed else { return taken }
            buffer.moveReaderIndex(forwardBy: confirmed)
            taken.confirmations = 1
          }
          taken.messages = buffer.readableBytes / messageBytes
          buffer.moveReaderIndex(forwardBy: taken.messages * messageBytes)
          return taken
        })
    }

    /// A length as the transport writes it in front of a frame.
    static func lengthPrefix(_ count: Int) -> [UInt8] {
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) }
    }

    /// Removes whole frames, past the preamble; a frame of another length is a confirmation.
    private static func takeFrames(_ buffer: inout ByteBuffer, messageBytes: Int) -> Taken {
      var taken = Taken()
      while let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self) {
        if length == 0x5445_524E {
          guard buffer.readableBytes >= 8 else { break }
          buffer.moveReaderIndex(forwardBy: 8)
          continue
        }
        guard buffer.readableBytes >= 4 + Int(length) else { break }
        buffer.moveReaderIndex(forwardBy: 4 + Int(length))
        if Int(length) == messageBytes {
          taken.messages += 1
        } else {
          taken.confirmations += 1
        }
      }
      return taken
    }
  }
#endif
