import Testing

@testable import TernGateway

@Suite("long polling") struct PollSessionTests {
  private func session() -> PollSession {
    PollSession(id: "i", password: "p", callback: "1", limits: GatewayLimits())
  }

  private func receive(_ session: inout PollSession, _ query: String) throws -> [String] {
    try session.receive(#require(RequestTarget("/.lp?" + query)))
      .map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("segments are joined in their order, whenever they come")
  func segments() throws {
    var session = session()
    // {"a":"ü"} is eyJhIjoiw7wifQ.
    #expect(try receive(&session, "seg0=1&ts0=2&d0=w7wifQ..") == [])
    #expect(
      try receive(&session, "seg0=0&ts0=2&d0=eyJhIjoi&seg1=2&ts1=1&d1=e30=") == [
        #"{"a":"ü"}"#, "{}",
      ])
    #expect(try receive(&session, "seg0=1&ts0=2&d0=w7wifQ..") == [], "again")
    #expect(try receive(&session, "ser=7") == [])
  }

  @Test(
    "segments that are none are refused",
    arguments: [
      "seg0=x&ts0=1&d0=e30", "seg0=0&ts0=0&d0=e30", "seg0=0&d0=e30", "seg0=0&ts0=1",
      "seg0=0&ts0=1&d0=e3*", "seg0=0&ts0=1&d0=e", "seg0=0&ts0=1&d0=%2F_8",
      "seg0=0&ts0=99999&d0=e30",
    ])
  func refused(query: String) throws {
    var session = session()
    #expect(throws: RESTError.self) { try receive(&session, query) }
  }

  @Test("a client that leaves a gap is not waited for without end")
  func gap() throws {
    var session = session()
    for number in 1...64 { #expect(try receive(&session, "seg0=\(number)&ts0=1&d0=e30") == []) }
    #expect(throws: RESTError.self) { try receive(&session, "seg0=65&ts0=1&d0=e30") }
  }

  @Test("a request has no more segments than may wait, also when they came before")
  func many() throws {
    var session = session()
    #expect(try receive(&session, "seg0=0&ts0=1&d0=e30") == ["{}"])
    func query(_ count: Int) -> String {
      (0..<count).map { "seg\($0)=0&ts\($0)=1&d\($0)=e30" }.joined(separator: "&")
    }
    #expect(try receive(&session, query(64)) == [])
    #expect(throws: RESTError.self) { try receive(&session, query(65)) }
  }

  @Test("the part that makes a message too long is not kept")
  func tooLong() throws {
    var limits = GatewayLimits()
    limits.messageBytes = 12
    var session = PollSession(id: "i", password: "p", callback: "1", limits: limits)
    #expect(try receive(&session, "seg0=0&ts0=3&d0=AAAAAAAA") == [])
    #expect(throws: RESTError.self) { try receive(&session, "seg0=1&ts0=3&d0=AAAAAAAA") }
    #expect(session.heldBytes == 8)
    session.close(keepingBytes: 0)
    #expect(session.heldBytes == 0)
  }

  @Test("scripts are numbered, and the first one says how to call back")
  func scripts() {
    var session = session()
    session.queue([Array("{}".utf8), Array("[]".utf8)])
    let first = String(decoding: session.script(), as: UTF8.self)
    #expect(first.hasPrefix("function pLPCommand"))
    #expect(first.hasSuffix("pLPCommand(\"start\",\"i\",\"p\");\npRTLPCB(0,[{},[]]);\n"))
    session.close(keepingBytes: 100)
    #expect(session.hasNews && !session.hasSaidAll)
    #expect(
      String(decoding: session.script(), as: UTF8.self)
        == "pRTLPCB(1,[]);\npLPCommand(\"close\",1);\n")
    #expect(!session.hasNews && session.hasSaidAll)
  }
}

@Suite("REST answers") struct RESTAnswerTests {
  @Test("pretty JSON is the same JSON")
  func pretty() {
    let json = #"{"a":[1,{"b":"x, {y}: \"z\\"}],"c":{},"d":[]}"#
    let text = String(decoding: PrettyJSON.text(of: Array(json.utf8)), as: UTF8.self)
    #expect(
      text == """
        {
          "a" : [ 1, {
            "b" : "x, {y}: \\"z\\\\"
          } ],
          "c" : { },
          "d" : [ ]
        }
        """)
  }

  @Test("rules are shown without their comments, and their strings stay")
  func strictRules() {
    let text = "{ // one\n\"rules\": { /* two\n */ \".read\": \"a // b\n /* c */ \\\" d\" } }"
    let strict = String(decoding: RulesText.strict(Array(text.utf8)), as: UTF8.self)
    #expect(strict == "{ \n\"rules\": {  \".read\": \"a // b\\n /* c */ \\\" d\" } }")
  }
}
