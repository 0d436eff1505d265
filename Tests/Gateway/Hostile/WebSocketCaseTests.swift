import Testing

@testable import TernGateway

@Suite("WebSocket, case by case") struct WebSocketCaseTests {
  /// Returns the outcome of bytes that arrive in pieces of `size`.
  private func outcome(of bytes: [UInt8], size: Int) -> WebSocketCase.Outcome {
    var reader = WebSocketReader(limitBytes: WebSocketCase.limitBytes)
    do throws(WebSocketFailure) {
      var start = 0
      while start < bytes.count {
        let piece = Array(bytes[start..<min(start + size, bytes.count)])
        start += piece.count
        try reader.consume(piece.span)
      }
    } catch {
      return .closed(error.code)
    }
    return .events(reader.takeEvents())
  }

  @Test("there are more than 250 of them, each another one")
  func count() {
    #expect(WebSocketCase.all.count >= 250)
    #expect(Set(WebSocketCase.all.map(\.name)).count == WebSocketCase.all.count)
  }

  @Test("each comes to what it has to, wherever its bytes are cut", arguments: [1, 2, 5, 1 << 20])
  func outcomes(size: Int) {
    for one in WebSocketCase.all {
      // A byte at a time the long ones say nothing more, and take long.
      if size < 5, one.bytes.count > 2_000 { continue }
      #expect(outcome(of: one.bytes, size: size) == one.outcome, "\(one.name)")
    }
  }

  @Test("bytes that stop in the middle are neither a message nor a failure")
  func prefixes() {
    for one in WebSocketCase.all where one.bytes.count < 40 {
      guard case .events(let events) = one.outcome else { continue }
      for count in 0..<one.bytes.count {
        guard case .events(let seen) = outcome(of: Array(one.bytes[..<count]), size: 3) else {
          Issue.record("\(one.name): \(count) bytes were refused")
          continue
        }
        #expect(events.starts(with: seen), "\(one.name): \(count)")
      }
    }
  }
}

#if TCP && canImport(Glibc)
  @Suite("WebSocket, case by case over sockets") struct WebSocketCaseSocketTests {
    @Test("what is rejected is rejected with its status, and no other client hears of it")
    func refused() async throws {
      var limits = GatewayLimits()
      limits.messageBytes = WebSocketCase.limitBytes
      try await withGateway(limits: limits) { gateway in
        let witness = try gateway.connect()
        _ = witness.openWebSocket()
        for one in WebSocketCase.all {
          guard case .closed(let code) = one.outcome else { continue }
          let peer = try gateway.connect()
          _ = peer.openWebSocket()
          peer.send(one.bytes)
          var answer = peer.message()
          // A ping before it may have been answered.
          while !answer.hasPrefix("closed"), answer != "ended" { answer = peer.message() }
          #expect(answer.hasPrefix("closed \(code)"), "\(one.name): \(answer)")
        }
        witness.ask(1, "p", #"{"p":"/a","d":1}"#)
        #expect(witness.message().contains(#""s":"ok""#))
      }
    }
  }
#endif
