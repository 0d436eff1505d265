#if TCP && os(Linux)
  import NIOCore
  import TernCore
  import TernDocumentWire
  import TernQuery

  extension FanOutProtocol {
    /// The same as ``documents(payloadBytes:)``, with listeners over gRPC; the publisher is the
    /// same, so that only the endpoint of the listeners is compared.
    static func grpcDocuments(payloadBytes: Int) throws -> FanOutProtocol {
      let native = try documents(payloadBytes: payloadBytes)
      let database = try DocumentDatabase(projectID: "bench")
      let rooms = DocumentQuery.collection(try CollectionPath("rooms"))
      let target = WatchTarget(id: 2, subject: .query(rooms.target))
      let listen = DocumentRequest(.listen(.add(target)), in: database).encode()
      return FanOutProtocol(
        subscribe: GRPCLoad.listening(listen), greeting: native.greeting, publish: native.publish,
        take: { takeFrames(&$0) })
    }

    /// The bytes of a head of HTTP/2, and of a message of gRPC.
    private static let (frameHead, messageHead) = (9, 5)

    /// Removes whole frames of HTTP/2, and counts the messages of those with data, each of which
    /// is in one frame.
    private static func takeFrames(_ buffer: inout ByteBuffer) -> Taken {
      var taken = Taken()
      while let head = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self),
        let kind = buffer.getInteger(at: buffer.readerIndex + 3, as: UInt8.self)
      {
        let length = Int(head >> 8)
        guard buffer.readableBytes >= frameHead + length else { break }
        let start = buffer.readerIndex + frameHead
        if kind == 0 { count(start..<start + length, of: buffer, &taken) }
        buffer.moveReaderIndex(forwardBy: frameHead + length)
      }
      return taken
    }

    private static func count(_ range: Range<Int>, of buffer: ByteBuffer, _ taken: inout Taken) {
      var index = range.lowerBound
      while index + messageHead <= range.upperBound,
        let length = buffer.getInteger(at: index + 1, as: UInt32.self)
      {
        // The first field of a ListenResponse: a changed document, or a change of the target, the
        // number of whose type follows.
        let field = buffer.getInteger(at: index + messageHead, as: UInt8.self)
        let type = buffer.getInteger(at: index + messageHead + 3, as: UInt8.self)
        if field == 0x1A {
          taken.messages += 1
        } else if field == 0x12, type == 3 {
          taken.confirmations += 1
        }
        index += messageHead + Int(length)
      }
    }
  }
#endif
