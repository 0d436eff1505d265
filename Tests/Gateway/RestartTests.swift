#if TCP && canImport(Glibc)
  import TernCore
  import TernServer
  import TernStorageMemory
  import Testing

  @testable import TernGateway

  @Suite("Restarts under live connections") struct RestartTests {
    @Test("a client that names its session after a restart finds what it left done, once")
    func comesBack() async throws {
      let store = MemoryStore()
      var session = Substring()
      try await withGateway(store: store) { gateway in
        let client = try gateway.connect()
        let greeting = client.openWebSocket("/.ws?v=5&ns=default")
        session = try #require(greeting.firstMatch(of: /"s":"([0-9a-f]{32})"/)?.output.1)
        client.ask(1, "p", #"{"p":"/me","d":"on"}"#)
        #expect(client.message().contains(#""s":"ok""#))
        client.ask(2, "o", #"{"p":"/me","d":"off"}"#)
        #expect(client.message().contains(#""s":"ok""#))
        await gateway.server.stop()
        #expect(client.message().hasPrefix("closed 1000"), "and no word to stay away")
      }
      try await withGateway(store: store) { gateway in
        #expect(try gateway.exchange(get("/me.json")).hasSuffix(#""on""#), "it may come back yet")
        let client = try TraceTests.Client(gateway, "/.ws?v=5&ns=default&ls=\(session)")
        client.say(3, "q", #"{"p":"/me","h":"\#(TreeNode("on").hash)"}"#, #"d me "off""#, "3 ok")
        client.say(4, "p", #"{"p":"/me","d":"on"}"#, #"d me "on""#, "4 ok")
      }
      try await withGateway(store: store) { gateway in
        let client = try TraceTests.Client(gateway, "/.ws?v=5&ns=default&ls=\(session)")
        client.say(5, "q", #"{"p":"/me","h":"\#(TreeNode("on").hash)"}"#, "5 ok")
      }
    }
  }
#endif
