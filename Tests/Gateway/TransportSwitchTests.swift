#if TCP && canImport(Glibc)
  import Foundation
  import TernServer
  import Testing

  @testable import TernGateway

  @Suite("From long polling to WebSocket") struct TransportSwitchTests {
    private func control(_ name: String) -> [UInt8] {
      Array(#"{"t":"c","d":{"t":"\#(name)","d":{}}}"#.utf8)
    }

    private let data = Array(#"{"t":"d","d":{"r":1,"a":"s","b":{}}}"#.utf8)
    private let more = Array(#"{"t":"d","d":{"r":2,"a":"s","b":{}}}"#.utf8)

    @Test("what comes over the new way waits until the old one has ended")
    func order() {
      var move = TransportSwitch(limitBytes: 1_000)
      #expect(move.receiveFromOld(data) == [.deliver([data])])
      #expect(move.receive(control("p")) == [.answer(control("o"))])
      #expect(move.receive(control("a")) == [])
      #expect(move.receive(more) == [])
      #expect(move.receiveFromOld(data) == [.deliver([data])], "the old way goes on")
      #expect(move.receiveFromOld(control("n")) == [.move, .deliver([more])])
      #expect(move.receive(data) == [.deliver([data])])
      #expect(move.isDone)
    }

    @Test("the old way may say first that it has ended")
    func otherOrder() {
      var move = TransportSwitch(limitBytes: 1_000)
      #expect(move.receiveFromOld(control("n")) == [])
      #expect(!move.isDone)
      #expect(move.receive(control("a")) == [.move])
    }

    @Test("a client that speaks out of turn is given up, and so is one that sends too much")
    func outOfTurn() {
      var move = TransportSwitch(limitBytes: 50)
      #expect(move.receive(data) == [.giveUp("data before the connection was agreed on")])
      #expect(move.receive(control("n")) == [.giveUp("a control message out of turn")])
      _ = move.receive(control("a"))
      #expect(move.receive(data) == [])
      #expect(move.receive(more) == [.giveUp("too much before the old connection ended")])
    }

    private func encoded(_ message: [UInt8]) -> String {
      Data(message).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        .replacing("=", with: ".")
    }

    @Test("a session that polls goes on over a WebSocket, and loses nothing on the way")
    func overSockets() async throws {
      try await withGateway { gateway in
        let poll = try gateway.connect()
        func ask(_ target: String) -> String {
          poll.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
          let head = poll.read(through: "\r\n\r\n")
          let length = head.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.output.1) }
          return String(decoding: poll.read(count: length ?? 0) ?? [], as: UTF8.self)
        }
        let started = ask("/.lp?start=t&ser=1&cb=1&v=5&ns=default")
        let names = try #require(started.firstMatch(of: /"start","(\w+)","(\w+)"/)).output
        let way = "/.lp?id=\(names.1)&pw=\(names.2)"
        let session = try #require(started.firstMatch(of: /"s":"([0-9a-f]{32})"/)).output.1

        let nobody = try gateway.connect()
        #expect(nobody.openWebSocket("/.ws?v=5&ns=default&s=none").hasPrefix("HTTP/1.1 404"))
        let socket = try gateway.connect()
        #expect(
          socket.openWebSocket("/.ws?v=5&ns=default&s=\(session)")
            == String(decoding: control("a"), as: UTF8.self))
        let second = try gateway.connect()
        #expect(second.openWebSocket("/.ws?v=5&ns=default&s=\(session)").hasPrefix("closed 1002"))
        socket.send(masked(1, control("p")))
        #expect(socket.message() == String(decoding: control("o"), as: UTF8.self))
        socket.send(masked(1, control("a")))
        socket.ask(2, "p", #"{"p":"/moved","d":2}"#)

        let listen = Array(#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/moved","h":""}}}"#.utf8)
        let segments =
          "&seg0=0&ts0=1&d0=\(encoded(listen))&seg1=1&ts1=1&d1=\(encoded(control("n")))"
        let last = ask(way + "&ser=2" + segments)
        #expect(last.contains(#"{"t":"c","d":{"t":"n","d":{}}}"#), "\(last)")
        #expect(socket.message() == #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}"#)
        #expect(socket.message().contains(#""p":"moved","d":2"#))
        #expect(socket.message().contains(#"{"r":2,"b":{"s":"ok""#))
        _ = ask(way + "&disconn=t")
        socket.ask(3, "p", #"{"p":"/moved","d":3}"#)
        #expect(socket.message().contains(#""p":"moved","d":3"#))
        #expect(socket.message().contains(#"{"r":3,"b":{"s":"ok""#))

        // What it left happens when the new way ends.
        socket.ask(4, "o", #"{"p":"/left","d":true}"#)
        #expect(socket.message().contains(#"{"r":4,"b":{"s":"ok""#))
        socket.send(masked(8, [3, 0xE8]))
        _ = socket.readToEnd()
        #expect(try gateway.exchange(get("/left.json")).hasSuffix("\r\n\r\ntrue"))
      }
    }
  }
#endif
