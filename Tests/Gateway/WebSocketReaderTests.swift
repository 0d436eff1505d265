import Testing

@testable import TernGateway

@Suite("WebSocket frames") struct WebSocketReaderTests {
  /// Returns the outcome of bytes, read in pieces of `size`.
  private func read(
    _ bytes: [UInt8], size: Int = .max, limit: Int = 1 << 20
  ) -> Result<[WebSocketReader.Event], WebSocketFailure> {
    var reader = WebSocketReader(limitBytes: limit)
    do throws(WebSocketFailure) {
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = Array(rest.prefix(size))
        rest = rest.dropFirst(piece.count)
        try reader.consume(piece.span)
      }
      return .success(reader.takeEvents())
    } catch {
      return .failure(error)
    }
  }

  private func code(_ bytes: [UInt8], limit: Int = 1 << 20) -> UInt16? {
    if case .failure(let failure) = read(bytes, limit: limit) { return failure.code }
    return nil
  }

  @Test("messages are joined, wherever the bytes are cut", arguments: [1, 2, 3, 7, 1_000_000])
  func joins(size: Int) throws {
    let long = String(repeating: "grüße ", count: 20_000)
    let bytes =
      masked(1, "Hel", isFinal: false) + masked(9, "ping") + masked(0, "lo ", isFinal: false)
      + masked(0, "wörld") + masked(1, long) + masked(1, "") + masked(8, [3, 232])
    let events = try read(bytes, size: size).get()
    #expect(
      events == [
        .ping(Array("ping".utf8)), .text(Array("Hello wörld".utf8)), .text(Array(long.utf8)),
        .text([]), .close(1000),
      ])
  }

  @Test("a character may be cut by fragments, but not left unfinished")
  func characters() throws {
    let snowman = Array("☃".utf8)
    let cut = masked(1, [snowman[0]], isFinal: false) + masked(0, Array(snowman[1...]))
    #expect(try read(cut).get() == [.text(snowman)])
    #expect(code(masked(1, [snowman[0]])) == 1007)
    for bad: [UInt8] in [
      [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0x80], [0xE0, 0x80, 0x80],
      [0xF4, 0x90, 0x80, 0x80], [0xC3, 0x28], [0xFF],
    ] {
      #expect(code(masked(1, bad)) == 1007, "\(bad)")
    }
  }

  @Test("what the protocol forbids ends the connection")
  func forbidden() {
    #expect(code([0x81, 0x01, 0x61]) == 1002, "not masked")
    #expect(code([0xC1, 0x80, 0, 0, 0, 0]) == 1002, "a reserved bit")
    #expect(code(masked(3, "x")) == 1002, "a reserved opcode")
    #expect(code(masked(11, "x")) == 1002, "a reserved control opcode")
    #expect(code(masked(2, "x")) == 1003, "binary")
    #expect(code(masked(0, "x")) == 1002, "nothing to continue")
    #expect(code(masked(1, "x", isFinal: false) + masked(1, "y")) == 1002, "a message in another")
    #expect(code(masked(9, "x", isFinal: false)) == 1002, "a fragmented ping")
    #expect(code([0x89, 0xFE, 0, 126, 0, 0, 0, 0]) == 1002, "a long ping")
    #expect(code([0x81, 0xFE, 0, 125, 0, 0, 0, 0]) == 1002, "a length that is too long")
    #expect(code([0x81, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0]) == 1002)
    #expect(code([0x81, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]) == 1002)
    #expect(code(masked(8, [3])) == 1002, "half a status")
    for status: UInt16 in [0, 999, 1004, 1005, 1006, 1015, 2999, 5000] {
      #expect(code(masked(8, [UInt8(status >> 8), UInt8(status & 0xFF)])) == 1002, "\(status)")
    }
    #expect(code(masked(8, [3, 232, 0xFF])) == 1007, "a goodbye that is no text")
  }

  @Test("a message over the limit is refused before it has come")
  func limits() throws {
    let announced: [UInt8] = [0x81, 0xFF, 0, 0, 0, 0, 0x7F, 0, 0, 0]
    #expect(code(announced) == 1009)
    let half = String(repeating: "x", count: 600)
    #expect(code(masked(1, half, isFinal: false) + masked(0, half), limit: 1_000) == 1009)
    #expect(try read(masked(1, half), limit: 600).get().count == 1)
  }
}

@Suite("parts of messages") struct MessagePartsTests {
  private func join(_ texts: [String], bytes: Int = 1_000, parts: Int = 9) throws -> [String] {
    var joiner = MessageJoiner(limitBytes: bytes, limitParts: parts)
    return try texts.compactMap { try joiner.take(Array($0.utf8)) }
      .map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("a number announces parts; a message stands for itself")
  func joins() throws {
    #expect(
      try join(["0", "{\"a\"}", "3", "{", "12", "}", "{}"]) == ["0", "{\"a\"}", "{12}", "{}"])
    #expect(try join(["1", "{}"]) == ["{}"])
  }

  @Test("too many parts and too many bytes are refused")
  func limits() {
    #expect(throws: WebSocketFailure.protocolError("a message of 10 parts")) { try join(["10"]) }
    #expect(throws: WebSocketFailure.tooLarge(limitBytes: 3)) {
      try join(["2", "ab", "cd"], bytes: 3)
    }
  }

  @Test("what is cut joins again, and no character is cut")
  func cuts() throws {
    for count in [0, 16_384, 16_385, 40_000] {
      let message = Array(
        (String(repeating: "x", count: count % 3) + String(repeating: "😀", count: count / 4)).utf8)
      let parts = MessageParts.cut(message)
      #expect(
        parts.allSatisfy { String(validating: $0, as: UTF8.self) != nil && $0.count <= 16_384 })
      var joiner = MessageJoiner(limitBytes: 1 << 20, limitParts: 9_999)
      var joined: [[UInt8]] = []
      for part in parts { if let whole = try joiner.take(Array(part)) { joined.append(whole) } }
      #expect(joined == [message])
    }
  }
}

/// A frame as clients send it.
func masked(_ opcode: UInt8, _ text: String, isFinal: Bool = true) -> [UInt8] {
  masked(opcode, Array(text.utf8), isFinal: isFinal)
}

/// A frame as clients send it.
func masked(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true) -> [UInt8] {
  let key: [UInt8] = [0x12, 0x34, 0x56, 0x78]
  var header = WebSocketFrame.header(opcode, count: payload.count)
  if !isFinal { header[0] &= 0x7F }
  header[1] |= 0x80
  return header + key + payload.enumerated().map { $0.element ^ key[$0.offset & 3] }
}
