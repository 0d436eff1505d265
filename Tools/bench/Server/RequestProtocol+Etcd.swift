#if TCP
  import NIOCore

  extension RequestProtocol {
    /// etcd's own gRPC, in as few HTTP/2 frames as there can be: a put is a HEADERS and a DATA
    /// frame, sent without compression tables; an answer counts when its DATA frame is there,
    /// which a refused put does not have.
    static let etcd = RequestProtocol(
      greeting: { _ in
        // Settings, and room for 1 GiB of answers before the window has to be looked after.
        Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + HTTP2.frame(HTTP2.settings, 0, 0, [])
          + HTTP2.frame(HTTP2.windowUpdate, 0, 0, [0x40, 0, 0, 0])
          + HTTP2.frame(HTTP2.settings, HTTP2.acknowledged, 0, [])
      },
      awaitsGreeting: false,
      request: { client, number, buffer in
        let stream = UInt32(2 * number - 1)
        HTTP2.write(HTTP2.headers, HTTP2.endOfHeaders, stream, &buffer) {
          $0.writeBytes(putHeaders)
        }
        HTTP2.write(HTTP2.data, HTTP2.endOfStream, stream, &buffer) { buffer in
          let start = buffer.writerIndex
          // Not compressed, and as long as it turns out to be.
          buffer.writeInteger(UInt8(0))
          buffer.writeInteger(UInt32(0))
          // PutRequest { key = 1; value = 2 }
          buffer.writeMultipleIntegers(UInt8(0x0A), UInt8(0))
          writeKey(client, number, &buffer)
          buffer.setInteger(UInt8(buffer.writerIndex - start - 7), at: start + 6)
          buffer.writeMultipleIntegers(UInt8(0x12), UInt8(value.utf8.count))
          buffer.writeString(value)
          buffer.setInteger(UInt32(buffer.writerIndex - start - 5), at: start + 1)
        }
      },
      take: { buffer in
        var answers = Answers()
        while buffer.readableBytes >= HTTP2.headBytes,
          let head = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self)
        {
          let length = Int(head >> 8)
          guard buffer.readableBytes >= HTTP2.headBytes + length else { break }
          buffer.moveReaderIndex(forwardBy: HTTP2.headBytes + length)
          if UInt8(head & 0xFF) == HTTP2.data { answers.successes += 1 }
        }
        return answers
      })

    private static let putHeaders: [UInt8] =
      // :method POST, :scheme http, then :path, :authority, content-type and te, spelled out.
      [0x83, 0x86, 0x04] + HTTP2.text("/etcdserverpb.KV/Put") + [0x01] + HTTP2.text("127.0.0.1")
      + [0x0F, 0x10] + HTTP2.text("application/grpc") + [0x00] + HTTP2.text("te")
      + HTTP2.text("trailers")
  }

  /// The little of HTTP/2 (RFC 9113) that a put takes.
  private enum HTTP2 {
    static let headBytes = 9
    static let data: UInt8 = 0
    static let headers: UInt8 = 1
    static let settings: UInt8 = 4
    static let windowUpdate: UInt8 = 8
    static let endOfStream: UInt8 = 1
    static let acknowledged: UInt8 = 1
    static let endOfHeaders: UInt8 = 4

    static func frame(
      _ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ body: [UInt8]
    ) -> [UInt8] {
      let length = [16, 8, 0].map { UInt8(truncatingIfNeeded: body.count >> $0) }
      let number = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: stream >> UInt32($0)) }
      return length + [type, flags] + number + body
    }

    static func write(
      _ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ buffer: inout ByteBuffer,
      _ body: (inout ByteBuffer) -> Void
    ) {
      let start = buffer.writerIndex
      buffer.writeMultipleIntegers(UInt32(type), flags, stream)
      body(&buffer)
      let length = UInt32(buffer.writerIndex - start - headBytes)
      buffer.setInteger(length << 8 | UInt32(type), at: start)
    }

    /// A string of HPACK without Huffman coding, of at most 126 bytes.
    static func text(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + text.utf8 }
  }
#endif
