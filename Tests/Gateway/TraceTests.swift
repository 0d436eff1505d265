#if TCP && canImport(Glibc)
  import TernCore
  import TernServer
  import TernTreeWire
  import Testing

  @testable import TernGateway

  /// The recorded conversations of a stock client, its frames sent as they were over a real
  /// WebSocket; the server has to say what that client was told.
  ///
  /// Source: realtime reference, appendix A.
  @Suite("Recorded traces") struct TraceTests {
    /// One client, and what it hears in few words.
    struct Client {
      let peer: Peer

      init(_ gateway: GatewayUnderTest, _ target: String = "/.ws?v=5&p=1:1:web:1&ns=default") throws
      {
        peer = try gateway.connect()
        _ = peer.openWebSocket(target)
      }

      /// Sends a request, and expects what follows, in order.
      func say(_ number: Int, _ action: String, _ body: String, _ expected: String...) {
        peer.ask(number, action, body)
        hear(expected, "\(number) \(action) \(body.prefix(80))")
      }

      func hear(_ expected: [String], _ about: String) {
        for words in expected { #expect(Self.brief(peer.message()) == words, "\(about)") }
      }

      /// A message in few words, as the traces spell them.
      static func brief(_ text: String) -> String {
        guard let message = try? TreeServerMessage.decode(Array(text.utf8)) else { return text }
        switch message {
        case .put(let push):
          return "d \(push.path) \(push.content.json(.export))" + tag(push.tag)
        case .merge(let push):
          let entries = push.content.entries.map { "\($0.path)=\($0.node.json(.export))" }
          return "m \(push.path) \(entries.joined(separator: " "))" + tag(push.tag)
        case .response(let number, let response):
          return "\(number) \(response.status.rawValue)"
        case .listenRevoked(let path, _, _, _): return "c \(path)"
        default: return text
        }
      }

      private static func tag(_ tag: Int64?) -> String { tag.map { " #\($0)" } ?? "" }
    }

    private let query = #"{"ep":900,"ein":true,"l":2,"vf":"l","i":"eta"}"#

    @Test("A1 A2 a window: its data before the ok, then what enters and leaves before each answer")
    func window() async throws {
      let rules = #"""
        {"rules": {".read": true, ".write": true, "fleet": {".indexOn": "eta", "a": {"eta": {
          ".validate": "newData.val() != 120"}}}}}
        """#
      try await withGateway(rules: rules) { gateway in
        let other = try Client(gateway)
        other.say(1, "p", #"{"p":"/fleet","d":{"a":{"eta":100},"b":{"eta":200}}}"#, "1 ok")
        let client = try Client(gateway)
        client.say(1, "s", #"{"c":{"sdk.js.12-0-0":1}}"#, "1 ok")
        client.say(
          2, "q", #"{"p":"/fleet","q":\#(query),"t":1,"h":""}"#,
          #"d fleet {"a":{"eta":100},"b":{"eta":200}} #1"#, "2 ok")
        client.say(
          3, "p", #"{"p":"/fleet/c","d":{"eta":50}}"#, #"m fleet b=null c={"eta":50} #1"#, "3 ok")
        client.say(
          4, "p", #"{"p":"/fleet/c","d":null}"#, #"m fleet b={"eta":200} c=null #1"#, "4 ok")
        other.say(2, "p", #"{"p":"/fleet/a/eta","d":150}"#, "2 ok")
        client.hear(["d fleet/a/eta 150 #1"], "another client's write")
        client.say(5, "p", #"{"p":"/fleet/a/eta","d":120}"#, "5 permission_denied")
      }
    }

    @Test("A3 shadowing: listens come and go, and those with the data's hash bring none")
    func shadowing() async throws {
      try await withGateway { gateway in
        let client = try Client(gateway)
        client.say(1, "p", #"{"p":"/a","d":{"b":1,"z":{"q":{"n":2}}}}"#, "1 ok")
        client.say(2, "q", #"{"p":"/a/b","h":""}"#, "d a/b 1", "2 ok")
        client.say(
          3, "q", #"{"p":"/a","q":{"l":1,"vf":"l"},"t":1,"h":""}"#, #"d a {"b":1} #1"#, "3 ok")
        client.say(4, "q", #"{"p":"/a/z","h":""}"#, #"d a/z {"q":{"n":2}}"#, "4 ok")
        let known = try TreeNode(json: #"{"b":1,"z":{"q":{"n":2}}}"#).hash
        client.say(5, "q", #"{"p":"/a","h":"\#(known)"}"#, "5 ok")
        client.say(6, "n", #"{"p":"/a","q":{"l":1,"vf":"l"},"t":1}"#, "6 ok")
        client.say(7, "n", #"{"p":"/a/b"}"#, "7 ok")
        client.say(8, "n", #"{"p":"/a/z"}"#, "8 ok")
        client.say(9, "p", #"{"p":"/a/b","d":2}"#, "d a/b 2", "9 ok")
      }
    }

    @Test("A4 an update over several paths is told before it is acknowledged, and at once")
    func update() async throws {
      try await withGateway { gateway in
        let client = try Client(gateway)
        client.say(1, "q", #"{"p":"/","h":""}"#, "1 ok")
        client.say(
          2, "m", #"{"p":"/","d":{"a/b/k":2,"a/z/q/n":5,"c":3}}"#,
          "m  a/b/k=2 a/z/q/n=5 c=3", "2 ok")
      }
    }

    @Test("A6 server values are resolved in what is told before the ok")
    func serverValues() async throws {
      try await withGateway { gateway in
        let client = try Client(gateway)
        client.say(1, "p", #"{"p":"/s/m","d":13}"#, "1 ok")
        client.say(2, "q", #"{"p":"/s","h":""}"#, #"d s {"m":13}"#, "2 ok")
        client.say(
          3, "p", #"{"p":"/s/m","d":{".sv":{"increment":2}}}"#, "d s/m 15", "3 ok")
        client.say(
          4, "p", #"{"p":"/s/new","d":{".sv":{"increment":4}}}"#, "d s/new 4", "4 ok")
      }
    }

    @Test("A7 A10 a transaction that guessed wrong is told so, as often as it guesses wrong")
    func transactions() async throws {
      try await withGateway { gateway in
        let other = try Client(gateway)
        other.say(1, "p", #"{"p":"/ctr","d":41}"#, "1 ok")
        let client = try Client(gateway)
        client.say(1, "q", #"{"p":"/ctr","h":""}"#, "d ctr 41", "1 ok")
        client.say(2, "p", #"{"p":"/ctr","d":1,"h":""}"#, "2 datastale")
        let known = TreeNode(41).hash
        client.say(3, "p", #"{"p":"/ctr","d":42,"h":"\#(known)"}"#, "d ctr 42", "3 ok")
        client.say(4, "n", #"{"p":"/ctr"}"#, "4 ok")
        for number in 5...29 {
          client.say(number, "p", #"{"p":"/ctr","d":1,"h":"bogus"}"#, "\(number) datastale")
        }
      }
    }

    @Test("A8 queued transactions arrive as they are sent, and the last one carries what they made")
    func queue() async throws {
      try await withGateway { gateway in
        let client = try Client(gateway)
        client.say(1, "p", #"{"p":"/n","d":{"a":1,"b":1}}"#, "1 ok")
        client.say(2, "q", #"{"p":"/n","h":""}"#, #"d n {"a":1,"b":1}"#, "2 ok")
        let one = TreeNode(1).hash
        client.peer.ask(3, "p", #"{"p":"/n/a","d":2,"h":"\#(one)"}"#)
        client.peer.ask(4, "p", #"{"p":"/n/b","d":2,"h":"\#(one)"}"#)
        client.hear(["d n/a 2", "3 ok", "d n/b 2", "4 ok"], "both")
        let both = try TreeNode(json: #"{"a":2,"b":2}"#).hash
        client.say(
          5, "p", #"{"p":"/n","d":{"a":4,"b":2,"p":1},"h":"\#(both)"}"#,
          #"d n {"a":4,"b":2,"p":1}"#, "5 ok")
      }
    }

    @Test("A13 what is left for the end overlaps as the client simulates it")
    func deferred() async throws {
      try await withGateway { gateway in
        let watcher = try Client(gateway)
        watcher.say(1, "p", #"{"p":"/p","d":{"x":1,"me":{"s":"on","n":1}}}"#, "1 ok")
        let client = try Client(gateway)
        client.say(1, "o", #"{"p":"/p/me","d":{"s":"off","at":{".sv":"timestamp"}}}"#, "1 ok")
        client.say(2, "om", #"{"p":"/p","d":{"x":9,"y/z":2}}"#, "2 ok")
        client.say(3, "oc", #"{"p":"/p/me/s","d":null}"#, "3 ok")
        client.say(4, "o", #"{"p":"/p/w","d":{".value":1,".priority":5}}"#, "4 ok")
        client.peer.send(masked(8, [3, 0xE8]))
        _ = client.peer.readToEnd()
        watcher.peer.ask(2, "g", #"{"p":"/p","q":{}}"#)
        let left = watcher.peer.message()
        #expect(left.contains(#""n":1,"s":"on""#), "one child was taken back: \(left)")
        #expect(left.firstMatch(of: /"at":\d{13}/) != nil, "\(left)")
        #expect(left.contains(#""w":{".value":1,".priority":5}"#), "\(left)")
        #expect(left.contains(#""x":9,"y":{"z":2}"#), "\(left)")
      }
    }

    @Test(
      "A14 a client that comes back names the session before, and everything is taken in order")
    func comingBack() async throws {
      try await withGateway { gateway in
        let first = try gateway.connect()
        let greeting = first.openWebSocket("/.ws?v=5&ns=default")
        let session = try #require(greeting.firstMatch(of: /"s":"([0-9a-f]{32})"/)?.output.1)
        first.ask(1, "o", #"{"p":"/s/gone","d":true}"#)
        #expect(first.message().contains(#""s":"ok""#))
        let client = try Client(gateway, "/.ws?v=5&ns=default&ls=\(session)")
        client.peer.ask(2, "q", #"{"p":"/s","h":"of what was simulated"}"#)
        client.peer.ask(3, "p", #"{"p":"/s/a","d":1}"#)
        client.peer.ask(4, "m", #"{"p":"/s","d":{"b":2}}"#)
        client.peer.ask(5, "p", #"{"p":"/s/a/.priority","d":3}"#)
        client.peer.ask(6, "o", #"{"p":"/s/later","d":1}"#)
        client.peer.ask(7, "g", #"{"p":"/s/b","q":{}}"#)
        client.hear(
          [
            #"d s {"gone":true}"#, "2 ok", "d s/a 1", "3 ok", "d s/b 2", "4 ok",
            "d s/a/.priority 3", "5 ok", "6 ok", "7 ok",
          ], "in order")
      }
    }

    @Test("A15 A16 a listen that is not allowed is refused, and one that no longer is is cancelled")
    func refusals() async throws {
      let rules = #"{"rules": {"s": {".read": "auth.uid === 'ann'", ".write": true}}}"#
      try await withGateway(rules: rules) { gateway in
        let client = try Client(gateway)
        client.say(1, "q", #"{"p":"/s","h":""}"#, "1 permission_denied")
        client.say(2, "gauth", #"{"cred":"owner","authvar":{"uid":"ann"}}"#, "2 ok")
        client.say(3, "q", #"{"p":"/s","h":""}"#, "3 ok")
        client.say(4, "unauth", "{}", "4 ok", "c s")
        client.say(5, "p", #"{"p":"/s","d":1}"#, "5 ok")
        client.say(6, "g", #"{"p":"/s","q":{}}"#, "6 permission_denied")
        client.say(7, "auth", #"{"cred":"a.b.c"}"#, "7 invalid_token")
      }
    }

    @Test("A17 priorities are told as the writes that set them")
    func priorities() async throws {
      try await withGateway { gateway in
        let client = try Client(gateway)
        client.say(
          1, "p",
          #"{"p":"/pr","d":{"a":{".value":1,".priority":10},"b":{".value":2,".priority":5},"c":3}}"#,
          "1 ok")
        client.say(
          2, "q", #"{"p":"/pr","h":""}"#,
          #"d pr {"a":{".value":1,".priority":10},"b":{".value":2,".priority":5},"c":3}"#, "2 ok")
        client.say(3, "p", #"{"p":"/pr/a/.priority","d":0}"#, "d pr/a/.priority 0", "3 ok")
        client.say(
          4, "p", #"{"p":"/pr/d","d":{"x":1,".priority":"hi"}}"#,
          #"d pr/d {"x":1,".priority":"hi"}"#, "4 ok")
        client.say(5, "p", #"{"p":"/pr/b","d":2}"#, "d pr/b 2", "5 ok")
      }
    }

    @Test("A18 a big message is a number and its parts, in both directions")
    func bigMessages() async throws {
      try await withGateway { gateway in
        let client = try Client(gateway)
        let text = String(repeating: "x", count: 40_000)
        let request = Array(
          #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/big","d":"\#(text)"}}}"#.utf8)
        client.peer.send(masked(1, "3"))
        for start in stride(from: 0, to: request.count, by: 16_384) {
          let part = request[start..<min(start + 16_384, request.count)]
          client.peer.send(masked(1, Array(part)))
        }
        client.hear(["1 ok"], "in three parts")
        client.peer.ask(2, "q", #"{"p":"/big","h":""}"#)
        #expect(client.peer.frame().map { String(decoding: $0.payload, as: UTF8.self) } == "3")
        let parts = (0..<3).compactMap { _ in client.peer.frame()?.payload }
        #expect(parts.map(\.count).max() == 16_384)
        #expect(parts.reduce([], +).occurrences(of: text) == 1)
        client.hear(["2 ok"], "behind its data")
      }
    }
  }
#endif
