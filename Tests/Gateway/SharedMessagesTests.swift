#if TCP
  import NIOCore
  import TernDocumentWire
  import TernQuery
  import TernTransport
  import Testing

  @testable import TernGateway

  /// Messages that many clients are sent alike, in the forms of their protocols.
  @Suite("Messages for many clients")
  struct SharedMessagesTests {
    private static func message(_ call: UInt32, _ text: String) -> [UInt8] {
      DocumentServerFrame.message(stream: call, Array(text.utf8)).encode()
    }

    /// The parts as text: a call with its messages, or the kind of a frame.
    private static func text(_ parts: [CallFrames.Part]) -> [String] {
      parts.map { part in
        switch part {
        case .messages(let call, let messages):
          let texts = messages.frames.map { String(decoding: $0.prefix(3), as: UTF8.self) }
          return "\(call): \(texts.joined(separator: " "))"
        case .frame(.answer(let call, _)): return "answer \(call)"
        case .frame(.end(let call, _)): return "end \(call)"
        case .frame(let frame): return "\(frame)"
        }
      }
    }

    @Test("neighbors of one call come together, and nothing overtakes")
    func parts() {
      let frames = [
        Self.message(1, "a"), Self.message(1, "b"), Self.message(2, "c"),
        DocumentServerFrame.answer(stream: 3, [1]).encode(), [0xFF], Self.message(2, "d"),
        DocumentServerFrame.end(stream: 2, nil).encode(), Self.message(1, "e"),
        Self.message(1, "f"),
      ]
      #expect(
        Self.text(CallFrames(frames).parts)
          == ["1: a b", "2: c", "answer 3", "2: d", "end 2", "1: e f"])
    }

    @Test("what comes together fits a frame of HTTP/2, unless it is one message")
    func limit() {
      let long = String(repeating: "x", count: 20_000)
      let frames = [long, "a", long, "b", "c"].map { Self.message(1, $0) }
      #expect(Self.text(CallFrames(frames).parts) == ["1: xxx", "1: a", "1: xxx", "1: b c"])
      let halves = ["x", "y", "z"].map { Self.message(1, String(repeating: $0, count: 8_187)) }
      #expect(Self.text(CallFrames(halves).parts) == ["1: xxx yyy", "1: zzz"])
    }

    @Test("messages of gRPC that leave together are read one by one")
    func gRPC() throws {
      let messages: [[UInt8]] = [[1, 2, 3], [], [4]]
      let bytes = GRPCMessageBuffer(messages).bytes
      var reader = GRPCMessageReader(limit: 10)
      var read: [[UInt8]] = []
      try reader.read(Array(bytes.readableBytesView)[...]) { read.append($0) }
      #expect(read == messages)
      let compressed = GRPCMessageBuffer([9], isCompressed: true).bytes
      #expect(Array(compressed.readableBytesView) == [1, 0, 0, 0, 1, 9])
    }

    @Test("sessions of WebChannel number the same data by themselves")
    func webChannel() throws {
      let change = WatchChange.target(WatchTargetChange(.current, targets: [2]))
      let message = DocumentResponse.listen(change).encode(DocumentNames())
      let shared = try #require(WebChannelMessages([message, message]).data)
      let data = try #require(shared.first.map { String(decoding: $0.text, as: UTF8.self) })
      #expect(data == #"[{"targetChange":{"targetChangeType":"CURRENT","targetIds":[2]}}]"#)
      for first in [1, 999] {
        var session = WebChannelSession(limits: WebChannelLimits())
        session.attach(WebChannelBack(isLongPoll: false))
        for id in 1..<first {
          session.keepAlive()
          _ = session.nextChunk()
          try session.acknowledge(id)
        }
        session.append(shared)
        let json = "[[\(first),\(data)],[\(first + 1),\(data)]]"
        #expect(
          session.nextChunk().map { String(decoding: $0, as: UTF8.self) }
            == "\(json.utf16.count)\n\(json)")
      }
      #expect(WebChannelMessages([message, [0xFF]]).data == nil)
    }

    @Test("a window is not filled beyond its limit at once")
    func window() throws {
      var limits = WebChannelLimits()
      limits.keptArrays = 3
      var session = WebChannelSession(limits: limits)
      #expect(session.hasSpace(for: 3))
      #expect(!session.hasSpace(for: 4))
      session.append([WebChannelSession.noop, WebChannelSession.noop])
      #expect(session.hasSpace(for: 1))
      #expect(!session.hasSpace(for: 2))
      session.append([WebChannelSession.noop])
      #expect(!session.hasSpace(for: 0))
    }
  }
#endif
