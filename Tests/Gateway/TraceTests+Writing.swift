#if TCP && canImport(Glibc)
  import Synchronization
  import TernCore
  import TernSecurity
  import TernServer
  import Testing

  @testable import TernGateway

  // The recorded conversations that are about when writes are told and answered.
  extension TraceTests {
    @Test("A5 what was there before the first write is told with it, and each write before its ok")
    func writeBeforeData() async throws {
      try await withGateway { gateway in
        let other = try Client(gateway)
        other.say(1, "p", #"{"p":"/s","d":{"k":0,"z":9}}"#, "1 ok")
        let client = try Client(gateway)
        // All three are sent before anything is heard.
        client.peer.ask(1, "q", #"{"p":"/s","h":""}"#)
        client.peer.ask(2, "p", #"{"p":"/s/k","d":1}"#)
        client.peer.ask(3, "p", #"{"p":"/s","d":{"k":2,"m":3}}"#)
        client.hear(
          [
            #"d s {"k":0,"z":9}"#, "1 ok", "d s/k 1", "2 ok", #"d s {"k":2,"m":3}"#, "3 ok",
          ], "old state first")
      }
    }

    @Test("A9 a set behind a transaction on its way: both are made, in the order they were sent")
    func setAgainstTransaction() async throws {
      try await withGateway { gateway in
        let client = try Client(gateway)
        client.say(1, "p", #"{"p":"/n","d":71}"#, "1 ok")
        client.say(2, "q", #"{"p":"/n","h":""}"#, "d n 71", "2 ok")
        client.peer.ask(3, "p", #"{"p":"/n","d":72,"h":"\#(TreeNode(71).hash)"}"#)
        client.peer.ask(4, "p", #"{"p":"/n","d":1}"#)
        client.hear(["d n 72", "3 ok", "d n 1", "4 ok"], "the transaction, then the set")
      }
    }

    @Test("A11 A16 a transaction whose socket was lost was made or not, and its hash tells which")
    func lostSocket() async throws {
      try await withGateway { gateway in
        let client = try Client(gateway)
        client.say(1, "p", #"{"p":"/n","d":1}"#, "1 ok")
        client.say(2, "q", #"{"p":"/n","h":""}"#, "d n 1", "2 ok")
        let put = #"{"p":"/n","d":2,"h":"\#(TreeNode(1).hash)"}"#
        client.peer.ask(3, "p", put)
        client.peer.send(masked(8, [3, 0xE8]))
        _ = client.peer.readToEnd()
        // The same client, with what it knows: a new number, and the hash of the data it had.
        let again = try Client(gateway)
        again.say(4, "q", #"{"p":"/n","h":"\#(TreeNode(1).hash)"}"#, "d n 2", "4 ok")
        again.say(5, "p", put, "5 datastale")
      }
    }

    @Test("A12 what is not shown locally is told before it is acknowledged, like anything else")
    func notAppliedLocally() async throws {
      try await withGateway { gateway in
        let client = try Client(gateway)
        client.peer.ask(1, "q", #"{"p":"/n","h":""}"#)
        client.peer.ask(2, "p", #"{"p":"/n","d":11,"h":""}"#)
        client.hear(["1 ok", "d n 11", "2 ok"], "of one request after the other")
      }
    }

    @Test("A15 data that are too large for an answer are refused to a listen and a get")
    func tooBig() async throws {
      try await withGateway(serverLimits: .init(answerBytes: 1_000)) { gateway in
        let client = try Client(gateway)
        let text = String(repeating: "x", count: 2_000)
        client.say(1, "p", #"{"p":"/big","d":"\#(text)"}"#, "1 ok")
        client.say(2, "q", #"{"p":"/big","h":""}"#, "2 too_big")
        client.say(3, "g", #"{"p":"/big","q":{}}"#, "3 too_big")
        client.say(4, "p", #"{"p":"/big","d":1}"#, "4 ok")
        client.say(5, "q", #"{"p":"/big","h":""}"#, "d big 1", "5 ok")
      }
    }

    @Test(
      "A16 a credential that no longer counts ends the socket; its client comes back and goes on")
    func credentialEnds() async throws {
      let moody = MoodyAuthenticator()
      let rules = #"{"rules": {".read": "auth != null", ".write": "auth != null"}}"#
      try await withGateway(rules: rules, authenticator: moody) { gateway in
        let first = try gateway.connect()
        let greeting = first.openWebSocket("/.ws?v=5&ns=default")
        let session = try #require(greeting.firstMatch(of: /"s":"([0-9a-f]{32})"/)?.output.1)
        first.ask(1, "auth", #"{"cred":"one"}"#)
        #expect(first.message().contains(#""uid":"one""#))
        first.ask(2, "q", #"{"p":"/n","h":""}"#)
        #expect(first.message() == #"{"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}"#)
        moody.refuse("one")
        let word = #"{"t":"d","d":{"a":"ac","b":{"s":"expired_token","d":"enough of one"}}}"#
        #expect(first.message() == word)
        #expect(first.message().hasPrefix(#"{"t":"c","d":{"t":"e""#))
        #expect(first.message().hasPrefix("closed 1000"))
        let client = try Client(gateway, "/.ws?v=5&ns=default&ls=\(session)")
        client.say(3, "auth", #"{"cred":"one"}"#, "3 expired_token")
        client.say(4, "auth", #"{"cred":"two"}"#, "4 ok")
        client.say(5, "q", #"{"p":"/n","h":""}"#, "5 ok")
        client.say(6, "p", #"{"p":"/n","d":1}"#, "d n 1", "6 ok")
      }
    }

    @Test(
      "A19 maps that count are arrays to those who read values",
      arguments: [
        (#"{"0":"a","1":"b"}"#, #"["a","b"]"#), (#"{"1":"a","2":"b"}"#, #"[null,"a","b"]"#),
        (#"{"2":"a"}"#, #"{"2":"a"}"#), (#"{"1":"a"}"#, #"[null,"a"]"#),
        (#"{"0":"a","01":"b"}"#, #"{"0":"a","01":"b"}"#),
        (#"{"0":"a","3":"b"}"#, #"["a",null,null,"b"]"#),
        (#"{"0":"a","4":"b"}"#, #"{"0":"a","4":"b"}"#), (#"[null,"x"]"#, #"[null,"x"]"#),
        (#"{"-1":"a","0":"b"}"#, #"{"-1":"a","0":"b"}"#),
      ])
    func arrays(written: String, read: String) async throws {
      try await withGateway { gateway in
        let client = try Client(gateway)
        client.say(1, "p", #"{"p":"/v","d":\#(written)}"#, "1 ok")
        #expect(try gateway.exchange(get("/v.json")).hasSuffix("\r\n\r\n" + read))
      }
    }
  }

  /// Takes any token for the user of that name, until it is told otherwise.
  private final class MoodyAuthenticator: Authenticator {
    private let refused = Mutex<Set<String>>([])

    func refuse(_ user: String) { refused.withLock { _ = $0.insert(user) } }

    func authenticate(
      _ credential: Credential, now: Int64
    ) throws(AuthenticationError) -> Authentication {
      let accepted = Authentication(.user(id: credential.token, claims: .object([])))
      if let error = revalidate(accepted, now: now) { throw error }
      return accepted
    }

    func revalidate(_ accepted: Authentication, now: Int64) -> AuthenticationError? {
      guard case .user(let id, _) = accepted.identity,
        refused.withLock({ $0.contains(id) })
      else { return nil }
      return .expired(reason: "enough of \(id)")
    }
  }
#endif
