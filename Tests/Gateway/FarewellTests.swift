#if TCP && canImport(Glibc)
  import TernServer
  import Testing

  @testable import TernGateway

  @Suite("Servers that serve no client") struct FarewellTests {
    private func ask(_ target: String, _ headers: String = "") -> String {
      "GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(headers)\r\n"
    }

    private let events = "Accept: text/event-stream\r\n"

    @Test(
      "a server that has moved names the other host over every endpoint, in place of a greeting")
    func moved() async throws {
      try await withGateway(farewell: .moved(host: "db2.example.com:9000")) { gateway in
        let socket = try gateway.connect()
        let sentOn = #"{"t":"c","d":{"t":"r","d":"db2.example.com:9000"}}"#
        #expect(socket.openWebSocket("/.ws?v=5&ns=harbor") == sentOn)
        #expect(socket.message().hasPrefix("closed 1000"))
        let target = "/a/b.json?ns=harbor&auth=x%2By"
        let location = "Location: //db2.example.com:9000\(target)\r\n"
        for headers in ["", events] {
          let answer = try gateway.exchange(ask(target, headers))
          #expect(answer.hasPrefix("HTTP/1.1 307"), "\(answer)")
          #expect(answer.contains(location), "the query goes along: \(answer)")
        }
        let poll = try gateway.exchange(ask("/.lp?start=t&ser=1&cb=1&v=5&ns=harbor"))
        #expect(poll.contains(sentOn), "\(poll)")
        let own = try gateway.connect()
        own.send(Array("TERN".utf8) + [0, 0, 0, 1])
        let opening = Array(#"{"t":"c","d":{"t":"o","d":{"v":"5","ns":"default"}}}"#.utf8)
        own.send([0, 0, 0, UInt8(opening.count)] + opening)
        #expect(own.readToEnd().contains(sentOn))
      }
    }

    @Test("one that is closed tells clients not to come back, and why")
    func closed() async throws {
      try await withGateway(farewell: .closed(reason: "closed for good")) { gateway in
        let socket = try gateway.connect()
        #expect(socket.openWebSocket() == #"{"t":"c","d":{"t":"s","d":"closed for good"}}"#)
        #expect(socket.message().hasPrefix("closed 1000"))
        for headers in ["", events] {
          let answer = try gateway.exchange(ask("/a.json", headers))
          #expect(answer.hasPrefix("HTTP/1.1 423"), "\(answer)")
          #expect(answer.hasSuffix(#"{"error":"closed for good"}"#))
        }
      }
    }
  }
#endif
