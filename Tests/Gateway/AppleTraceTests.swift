#if TCP && canImport(Glibc)
  import TernCore
  import Testing

  @testable import TernGateway

  /// The messages of a stock Apple client in the forms that its documentation names, over a real
  /// WebSocket: the client itself cannot run here.
  @Suite("Apple clients of the tree, as traces (the clients cannot run here)")
  struct AppleTraceTests {
    @Test("R44 keepSynced, setValue with a server time, and onDisconnectRemoveValue")
    func presence() async throws {
      try await withGateway { gateway in
        let phone = try TraceTests.Client(gateway, "/.ws?v=5&ns=default&p=1:2:ios:3")
        // FIRDatabase: the statistics of the library, and its first listen by keepSynced:.
        phone.say(1, "s", #"{"c":{"sdk.ios.11-0-0":1}}"#, "1 ok")
        phone.say(2, "q", #"{"p":"/scores","h":""}"#, "2 ok")
        // onDisconnectRemoveValueWithCompletionBlock: before the announcement.
        phone.say(3, "o", #"{"p":"/users/ada/connections/1","d":null}"#, "3 ok")
        phone.say(4, "o", #"{"p":"/users/ada/lastOnline","d":{".sv":"timestamp"}}"#, "4 ok")
        phone.say(5, "p", #"{"p":"/users/ada/connections/1","d":true}"#, "5 ok")
        phone.say(
          6, "m", #"{"p":"/scores","d":{"a":1,"b":{"x":2}}}"#,
          #"m scores a=1 b={"x":2}"#, "6 ok")
        let other = try TraceTests.Client(gateway)
        other.say(
          1, "q", #"{"p":"/users/ada","h":""}"#, #"d users/ada {"connections":{"1":true}}"#,
          "1 ok")
        phone.peer.reset()
        let told = other.peer.message()
        #expect(told.contains(#""connections/1":null"#), "\(told)")
        #expect(told.firstMatch(of: /"lastOnline":\d{13}/) != nil, "\(told)")
      }
    }
  }
#endif
