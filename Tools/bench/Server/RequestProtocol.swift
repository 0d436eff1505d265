#if TCP
  import NIOCore
  import TernTreeWire

  /// The protocol of a load generator for one kind of server: one durable write per request.
  struct RequestProtocol: Sendable {
    /// The first bytes of a client; the number names the client.
    let greeting: @Sendable (Int) -> [UInt8]
    /// True when requests wait until the greeting was answered.
    let awaitsGreeting: Bool
    /// Appends request number `number`, from 1 on, of a client.
    let request: @Sendable (_ client: Int, _ number: Int, inout ByteBuffer) -> Void
    /// Removes whole answers from the front of what a client has received.
    let take: @Sendable (inout ByteBuffer) -> Answers

    /// The answers taken from a client's bytes.
    struct Answers {
      var isGreeted = false
      /// Writes that were made.
      var successes = 0
      /// Writes that were refused.
      var failures = 0
    }
  }

  extension RequestProtocol {
    /// A value of 100 bytes.
    static let value = String(repeating: "v", count: 100)
    /// The places each client writes to, in turn.
    static let places = 1_000

    /// The place of a write, the same for every server.
    static func key(_ client: Int, _ number: Int) -> String {
      "load/\(client)/\(1_000_000 + number % places)"
    }

    /// The tree server: numbered writes, each exactly once, as our own clients send them.
    ///
    /// - Parameter depth: The writes a client has under way; it knows the outcomes before those.
    static func tree(depth: Int) -> RequestProtocol {
      RequestProtocol(
        greeting: { client in
          let stream = UInt128.random(in: 0...UInt128.max)
          let opening = TreeClientMessage.open(TreeOpening(stream: stream)).encode()
          return TCPFrames.preamble + TCPFrames.frame(opening)
        },
        awaitsGreeting: true,
        request: { client, number, buffer in
          let start = buffer.writerIndex
          buffer.writeInteger(UInt32(0))
          buffer.writeStaticString(#"{"t":"d","d":{"r":"#)
          buffer.writeDecimal(number)
          buffer.writeStaticString(#","a":"p","b":{"p":"/"#)
          writeKey(client, number, &buffer)
          buffer.writeStaticString(#"","d":""#)
          buffer.writeString(value)
          buffer.writeStaticString(#"","w":"#)
          buffer.writeDecimal(number)
          buffer.writeStaticString(#","wa":"#)
          buffer.writeDecimal(max(0, number - depth))
          buffer.writeStaticString("}}}")
          buffer.setInteger(UInt32(buffer.writerIndex - start - 4), at: start)
        },
        take: { buffer in
          var answers = Answers()
          TCPFrames.take(&buffer) { frame in
            // {"t":"c"... is the greeting; {"t":"d","d":{"r":1,"b":{"s":"ok"... an answer.
            if frame[frame.startIndex + 6] == UInt8(ascii: "c") {
              answers.isGreeted = true
            } else if isOK(frame) {
              answers.successes += 1
            } else {
              answers.failures += 1
            }
          }
          return answers
        })
    }

    /// Appends ``key(_:_:)``.
    static func writeKey(_ client: Int, _ number: Int, _ buffer: inout ByteBuffer) {
      buffer.writeStaticString("load/")
      buffer.writeDecimal(client)
      buffer.writeStaticString("/")
      buffer.writeDecimal(1_000_000 + number % places)
    }
  }

  extension ByteBuffer {
    fileprivate mutating func writeDecimal(_ number: Int) {
      if number >= 10 { writeDecimal(number / 10) }
      writeInteger(UInt8(ascii: "0") + UInt8(number % 10))
    }
  }

  extension RequestProtocol {
    /// The bare server: the lengths of key and value, the two, and a plus for an answer.
    static let bare = RequestProtocol(
      greeting: { _ in [] }, awaitsGreeting: false,
      request: { client, number, buffer in
        let start = buffer.writerIndex
        buffer.writeMultipleIntegers(UInt8(0), UInt8(value.utf8.count))
        writeKey(client, number, &buffer)
        buffer.setInteger(UInt8(buffer.writerIndex - start - 2), at: start)
        buffer.writeString(value)
      },
      take: { buffer in
        let count = buffer.readableBytes
        buffer.moveReaderIndex(forwardBy: count)
        return Answers(successes: count)
      })

    /// Returns true when the answer `{"t":"d","d":{"r":17,"b":{"s":"ok",...` reports success.
    private static func isOK(_ frame: ByteBufferView) -> Bool {
      let tail = frame.dropFirst(18)
      guard let comma = tail.firstIndex(of: UInt8(ascii: ",")) else { return false }
      return tail[comma...].starts(with: ok)
    }

    private static let ok = Array(#","b":{"s":"ok""#.utf8)
  }

  /// Frames as Docs/Formats/tcp-frames.md describes them.
  enum TCPFrames {
    static let preamble: [UInt8] = [0x54, 0x45, 0x52, 0x4E, 0, 0, 0, 1]

    static func frame(_ body: [UInt8]) -> [UInt8] {
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: body.count >> $0) } + body
    }

    /// Removes whole frames, past the preamble.
    static func take(_ buffer: inout ByteBuffer, _ body: (ByteBufferView) -> Void) {
      while let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self) {
        if length == 0x5445_524E {
          guard buffer.readableBytes >= 8 else { return }
          buffer.moveReaderIndex(forwardBy: 8)
          continue
        }
        guard buffer.readableBytes >= 4 + Int(length) else { return }
        if let frame = buffer.viewBytes(at: buffer.readerIndex + 4, length: Int(length)) {
          body(frame)
        }
        buffer.moveReaderIndex(forwardBy: 4 + Int(length))
      }
    }
  }
#endif
