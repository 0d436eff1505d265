#if TCP && canImport(Glibc)
  import TernServer
  import TernTreeWire
  import Testing

  @testable import TernGateway

  /// A credential that ends during a connection: the same over every endpoint.
  @Suite("Credentials of open connections") struct LiveCredentialTests {
    /// Ada, who listens to her place over every gateway.
    private struct Listeners {
      let socket: Peer
      let stream: Peer
      let poll: PollPeer
      let native: NativePeer

      init(_ gateway: TokenGateway, _ token: String) throws {
        let auth = frame(1, "auth", #"{"cred":"\#(token)"}"#)
        let listen = frame(2, "q", #"{"p":"/users/ada","h":""}"#)
        socket = try gateway.gateway.connect()
        _ = socket.openWebSocket()
        for request in [auth, listen] {
          socket.send(masked(1, Array(request.utf8)))
          let answer = socket.message()
          #expect(answer.contains(#""s":"ok""#), "\(answer)")
        }
        stream = try gateway.gateway.connect()
        stream.send(
          "GET /users/ada.json?auth=\(token) HTTP/1.1\r\nHost: localhost\r\n"
            + "Accept: text/event-stream\r\n\r\n")
        #expect(stream.read(through: "\n\n\r\n").contains("event: put"))
        poll = try PollPeer(gateway.gateway)
        let answers = poll.ask(auth, listen)
        let rest = answers.contains(#""r":2"#) ? "" : poll.hear(#""r":2"#)
        #expect((answers + rest).matches(of: /"s":"ok"/).count == 2, "\(answers) \(rest)")
        native = try NativePeer(port: gateway.gateway.port)
        native.send(TreeClientMessage.open(TreeOpening()).encode())
        _ = native.frame()
        for request in [auth, listen] {
          native.send(Array(request.utf8))
          #expect(native.frame().contains(#""s":"ok""#))
        }
      }

      /// Everything was told over every gateway, and every connection or stream has ended.
      func expectEnd(_ status: String, _ reason: String) {
        let told = #"{"t":"d","d":{"a":"ac","b":{"s":"\#(status)","d":"\#(reason)"}}}"#
        #expect(socket.message() == told)
        var last = socket.message()
        while !last.hasPrefix("closed"), last != "ended" { last = socket.message() }
        #expect(last.hasPrefix("closed 1000"))
        let end = stream.readToEnd()
        #expect(end.contains("event: auth_revoked\ndata: \"credential is no longer valid\"\n\n"))
        #expect(end.hasSuffix("\r\n0\r\n\r\n"), "the stream ends properly: \(end)")
        let script = poll.answer()
        let ending = #"{"t":"c","d":{"t":"e","d":"\#(reason)"}}"#
        #expect(script.contains(told) && script.contains(ending), "\(script)")
        #expect(native.frame() == told)
        last = native.frame()
        while last != "ended" { last = native.frame() }
      }
    }

    @Test("R10 a token that ends, ends its connections within seconds, over every endpoint")
    func expiry() async throws {
      try await TokenGateway.with { gateway in
        let ada = try Listeners(gateway, gateway.token("ada", for: 20))
        ada.poll.poll()
        await gateway.pass(seconds: 19)
        // Nothing has happened: the first event of all listeners is a write.
        let written = try gateway.rest(
          "PUT", "/users/ada/n.json", token: gateway.token("ada", for: 99), body: "1")
        #expect(written.head.hasPrefix("HTTP/1.1 200"))
        #expect(ada.socket.message().contains(#""d":1"#))
        #expect(ada.stream.read(through: "\n\n\r\n").contains(#""data":1"#))
        #expect(ada.poll.answer().contains(#""d":1"#))
        #expect(ada.native.frame().contains(#""d":1"#))
        ada.poll.poll()
        _ = try gateway.rest("GET", "/users/ada.json", token: gateway.token("ada", for: 99))
        await gateway.pass(seconds: 1)
        ada.expectEnd("expired_token", "The token has expired.")
        let late = try gateway.rest("GET", "/users/ada.json", token: gateway.token("ada", for: 20))
        #expect(late.head.hasPrefix("HTTP/1.1 401") && late.body.contains("expired"))
      }
    }

    @Test("R10 a token that ends between polls is reported by the next poll")
    func expiryBetweenPolls() async throws {
      try await TokenGateway.with { gateway in
        let poll = try PollPeer(gateway.gateway)
        let auth = frame(1, "auth", #"{"cred":"\#(try gateway.token("ada", for: 20))"}"#)
        #expect(poll.ask(auth).contains(#""s":"ok""#))
        await gateway.pass(seconds: 20)
        let last = poll.hear(#"pLPCommand("close""#)
        #expect(last.contains(#""a":"ac","b":{"s":"expired_token""#), "\(last)")
      }
    }

    @Test("a token that is revoked over REST ends its connections at once, over every endpoint")
    func revocation() async throws {
      let list = "/.settings/revocations.json"
      try await TokenGateway.with { gateway in
        let token = try gateway.token("ada", for: 3_600)
        let chief = try gateway.token("chief", for: 3_600, isAdministrator: true)
        let ada = try Listeners(gateway, token)
        ada.poll.poll()
        let body = #"{"ada":"now"}"#
        #expect(try gateway.rest("PATCH", list, body: body).head.hasPrefix("HTTP/1.1 401"))
        #expect(
          try gateway.rest("PATCH", list, token: token, body: body).head.hasPrefix("HTTP/1.1 401"))
        #expect(try gateway.rest("GET", list, token: token).head.hasPrefix("HTTP/1.1 401"))
        for wrong in ["", "null", "[]", #"{"ada":"then"}"#, #"{"ada":-1}"#, #"{"":1}"#] {
          let answer = try gateway.rest("PATCH", list, token: chief, body: wrong)
          #expect(answer.head.hasPrefix("HTTP/1.1 400"), "\(wrong): \(answer)")
        }
        #expect(try gateway.rest("GET", list, token: chief).body == "{}")
        #expect(
          try gateway.rest("PATCH", list, token: chief, body: body).body == #"{"status":"ok"}"#)
        ada.expectEnd("invalid_token", "The token was revoked.")
        #expect(
          try gateway.rest("GET", list, token: chief).body == #"{"ada":\#(TokenGateway.start + 1)}"#
        )
        let again = try gateway.rest("GET", "/users/ada.json", token: token)
        #expect(again.head.hasPrefix("HTTP/1.1 401") && again.body.contains("was revoked"))
        // A token that was issued later counts, and so do others'; and all of them in the end.
        await gateway.pass(seconds: 1)
        let next = try gateway.token("ada", for: 3_600, issued: 1)
        #expect(try gateway.rest("GET", "/users/ada.json", token: next).body == "null")
        let bob = try gateway.token("bob", for: 3_600)
        #expect(try gateway.rest("GET", "/users/bob.json", token: bob).body == "null")
        let pardon = #"{"ada":null}"#
        #expect(
          try gateway.rest("PATCH", list, token: chief, body: pardon).head.hasPrefix("HTTP/1.1 200")
        )
        #expect(try gateway.rest("GET", "/users/ada.json", token: token).body == "null")
        #expect(
          try gateway.rest("PUT", list, token: chief, body: "{}").head.hasPrefix("HTTP/1.1 405"))
      }
    }

    @Test("a token that is shown in time carries a WebSocket on, with its listens")
    func refresh() async throws {
      try await TokenGateway.with { gateway in
        let socket = try gateway.gateway.connect()
        _ = socket.openWebSocket()
        func show(_ number: Int, _ token: String) -> String {
          socket.ask(number, "auth", #"{"cred":"\#(token)"}"#)
          return socket.message()
        }
        let first = show(1, try gateway.token("ada", for: 20))
        #expect(first.contains(#""uid":"ada""#) && first.contains("\(TokenGateway.start + 20)"))
        socket.ask(2, "q", #"{"p":"/users/ada","h":""}"#)
        #expect(socket.message().contains(#""s":"ok""#))
        await gateway.pass(seconds: 15)
        #expect(show(3, try gateway.token("ada", for: 60, issued: 15)).contains(#""s":"ok""#))
        await gateway.pass(seconds: 15)
        // What is no longer good changes nothing.
        #expect(show(4, try gateway.token("ada", for: 20)).contains(#""s":"expired_token""#))
        #expect(show(5, "forged").contains(#""s":"invalid_token""#))
        let token = try gateway.token("ada", for: 60, issued: 15)
        _ = try gateway.rest("PUT", "/users/ada/n.json", token: token, body: "1")
        #expect(socket.message().contains(#""p":"users/ada/n","d":1"#))
        // Another user may not have what the first one listened to.
        let change = show(6, try gateway.token("bob", for: 60, issued: 15))
        let pushed = socket.message()
        #expect(change.contains(#""uid":"bob""#) && pushed.contains(#""a":"c""#), "\(pushed)")
        socket.ask(7, "unauth", "{}")
        #expect(socket.message().contains(#""s":"ok""#))
        socket.ask(8, "g", #"{"p":"/users/bob","q":{}}"#)
        #expect(socket.message().contains(#""s":"permission_denied""#))
        // An anonymous session does not end, as long as it sends something.
        for number in 9...12 {
          await gateway.pass(seconds: 25)
          socket.ask(number, "unauth", "{}")
          #expect(socket.message().contains(#""s":"ok""#))
        }
      }
    }

    @Test("an administrator acts for any user, and no other client does")
    func override() async throws {
      try await TokenGateway.with { gateway in
        let chief = try gateway.token("chief", for: 60, isAdministrator: true)
        let ada = try gateway.token("ada", for: 60)
        let (mine, others) = (#"{"p":"/users/ada","q":{}}"#, #"{"p":"/users/bob","q":{}}"#)
        for (action, more, mayHave) in [
          ("gauth", "", [true, true]), ("gauth", #","authvar":{"uid":"ada"}"#, [true, false]),
          ("auth", #","authvar":{"uid":"ada"}"#, [true, false]),
          ("gauth", #","authvar":null"#, [false, false]),
          ("auth", #","noauth":true"#, [false, false]),
        ] {
          let socket = try gateway.gateway.connect()
          _ = socket.openWebSocket()
          socket.ask(1, action, #"{"cred":"\#(chief)"\#(more)}"#)
          let answer = socket.message()
          #expect(answer.contains(#""s":"ok""#), "\(action) \(more): \(answer)")
          for (body, may) in zip([mine, others], mayHave) {
            socket.ask(2, "g", body)
            #expect(socket.message().contains(#""s":"ok""#) == may, "\(action) \(more) \(body)")
          }
        }
        let socket = try gateway.gateway.connect()
        _ = socket.openWebSocket()
        socket.ask(1, "auth", #"{"cred":"\#(ada)","authvar":{"uid":"bob"}}"#)
        #expect(socket.message().contains(#""s":"invalid_token""#))
        socket.ask(2, "g", mine)
        #expect(socket.message().contains(#""s":"permission_denied""#), "still nobody")

        func status(_ token: String, _ user: String, _ override: String) throws -> String {
          let target =
            "/users/\(user).json?access_token=\(token)&auth_variable_override=\(override)"
          return String(try gateway.rest("GET", target).head.dropFirst(9).prefix(3))
        }
        #expect(try status(chief, "ada", "%7B%22uid%22:%22ada%22%7D") == "200")
        #expect(try status(chief, "bob", "%7B%22uid%22:%22ada%22%7D") == "401")
        #expect(try status(chief, "ada", "null") == "401")
        #expect(try status(chief, "ada", "%7B%7D") == "401", "a user without an id is nobody's")
        #expect(try status(chief, "ada", "x") == "400")
        #expect(try status(ada, "ada", "%7B%22uid%22:%22ada%22%7D") == "401")
      }
    }
  }
#endif
