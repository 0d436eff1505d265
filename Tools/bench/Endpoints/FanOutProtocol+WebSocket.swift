#if TCP
  import NIOCore
  import TernCore
  import TernQuery
  import TernTreeWire

  extension FanOutProtocol {
    /// The same as ``tree(payloadBytes:)``, with listeners over WebSocket; the publisher is the
    /// same, so that only the endpoint of the listeners is compared.
    static func webSocket(payloadBytes: Int) throws -> FanOutProtocol {
      let native = try tree(payloadBytes: payloadBytes)
      let listen = TreeClientMessage.request(
        1, .listen(TreeListen(path: try TreePath("news"), query: .all)))
      return FanOutProtocol(
        subscribe: WebSocketBytes.upgrade + WebSocketBytes.text(listen.encode()),
        greeting: native.greeting, publish: native.publish,
        take: { WebSocketBytes.take(&$0, payloadBytes: payloadBytes) })
    }
  }

  /// The bytes of a client of WebSocket, as far as this load needs them. Source: RFC 6455.
  enum WebSocketBytes {
    static let upgrade = Array(
      ("GET /.ws?v=5&ns=default HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
        + "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").utf8)

    /// One text message of at most 65,535 bytes, masked by zeros.
    static func text(_ payload: [UInt8]) -> [UInt8] {
      let length: [UInt8] =
        payload.count < 126
        ? [0x80 | UInt8(payload.count)]
        : [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
      return [0x81] + length + [0, 0, 0, 0] + payload
    }

    /// Removes the answer to the upgrade, and whole messages of at most 65,535 bytes.
    static func take(_ buffer: inout ByteBuffer, payloadBytes: Int) -> FanOutProtocol.Taken {
      var taken = FanOutProtocol.Taken()
      while let first = buffer.getInteger(at: buffer.readerIndex, as: UInt8.self) {
        if first == UInt8(ascii: "H") {
          guard skipHead(&buffer) else { break }
          continue
        }
        guard let short = buffer.getInteger(at: buffer.readerIndex + 1, as: UInt8.self) else {
          break
        }
        var (head, length) = (2, Int(short))
        if short == 126 {
          guard let long = buffer.getInteger(at: buffer.readerIndex + 2, as: UInt16.self) else {
            break
          }
          (head, length) = (4, Int(long))
        }
        guard buffer.readableBytes >= head + length else { break }
        buffer.moveReaderIndex(forwardBy: head)
        taken.count(&buffer, bytes: length, payloadBytes: payloadBytes)
      }
      return taken
    }

    /// Removes the lines that answer the upgrade, if all of them are there.
    private static func skipHead(_ buffer: inout ByteBuffer) -> Bool {
      let view = buffer.readableBytesView
      var seen: [UInt8] = []
      for (count, byte) in view.enumerated() {
        seen.append(byte)
        if seen.suffix(4) == [13, 10, 13, 10] {
          buffer.moveReaderIndex(forwardBy: count + 1)
          return true
        }
      }
      return false
    }
  }
#endif
