import TernCore
import TernQuery
import TernTestKit
import Testing

@testable import TernTreeWire

private func key(_ text: String) -> TreePath {
  TreePath(unchecked: text.split(separator: "/").map { TreeKey(unchecked: String($0)) })
}

@Suite("What servers say")
struct ServerMessageTests {
  static func exact() throws -> [(String, TreeServerMessage)] {
    try answers() + pushes()
  }

  static func answers() -> [(String, TreeServerMessage)] {
    [
      (
        #"{"t":"c","d":{"t":"h","d":{"ts":1760000000123,"v":"5","h":"127.0.0.1:9000","s":"Jd0v","w":12}}}"#,
        .handshake(
          TreeHandshake(
            time: 1_760_000_000_123, host: "127.0.0.1:9000", session: "Jd0v", lastSequence: 12))
      ),
      (
        #"{"t":"c","d":{"t":"r","d":"s-nl1-9.example.net"}}"#,
        .redirect(host: "s-nl1-9.example.net")
      ),
      (#"{"t":"c","d":{"t":"s","d":"bye"}}"#, .shutdown(reason: "bye")),
      (#"{"t":"c","d":{"t":"e","d":"oops"}}"#, .error("oops")),
      (#"{"t":"c","d":{"t":"o","d":null}}"#, .pong),
      (#"{"t":"c","d":{"t":"i","d":null}}"#, .inquiry),
      (#"{"t":"d","d":{"r":3,"b":{"s":"ok","d":{}}}}"#, .response(3, .listening())),
      (
        #"{"t":"d","d":{"r":3,"b":{"s":"ok","d":{"w":["no_index"]}}}}"#,
        .response(3, .listening(warnings: ["no_index"]))
      ),
      (
        #"{"t":"d","d":{"r":4,"b":{"s":"ok","d":"","v":99}}}"#,
        .response(4, TreeResponse(.ok, version: 99))
      ),
      (
        #"{"t":"d","d":{"r":4,"b":{"s":"permission_denied","d":"Permission denied"}}}"#,
        .response(4, TreeResponse(.permissionDenied, detail: "Permission denied"))
      ),
      (
        #"{"t":"d","d":{"r":5,"b":{"s":"ok","d":{"a":1}}}}"#, .response(5, .data(["a": 1]))
      ),
    ]
  }

  static func pushes() throws -> [(String, TreeServerMessage)] {
    [
      (
        #"{"t":"d","d":{"a":"d","b":{"p":"fleet/7/eta","d":820}}}"#,
        .put(TreePush(path: key("fleet/7/eta"), 820))
      ),
      (
        #"{"t":"d","d":{"a":"d","b":{"p":"","d":null,"t":1,"v":7}}}"#,
        .put(TreePush(path: .root, .empty, tag: 1, version: 7))
      ),
      (
        #"{"t":"d","d":{"a":"m","b":{"p":"fleet","d":{"7":null,"9":{"eta":40}},"t":1}}}"#,
        .merge(
          TreePush(
            path: key("fleet"),
            try TreeMerge([
              TreeMerge.Entry(path: key("7"), node: .empty),
              TreeMerge.Entry(path: key("9"), node: ["eta": 40]),
            ]), tag: 1))
      ),
      (
        #"{"t":"d","d":{"a":"rm","b":{"p":"fleet","d":[{"s":"3/eta","e":"8","m":{"8":{"eta":1}}},{"m":null}]}}}"#,
        .rangeMerge(
          TreePush(
            path: key("fleet"),
            [
              TreeRangeMerge(start: key("3/eta"), end: key("8"), node: ["8": ["eta": 1]]),
              TreeRangeMerge(start: nil, end: nil, node: .empty),
            ]))
      ),
      (#"{"t":"d","d":{"a":"c","b":{"p":"fleet"}}}"#, .listenRevoked(key("fleet"), .all)),
      (
        #"{"t":"d","d":{"a":"c","b":{"p":"fleet","q":[{"l":1,"vf":"l"}]}}}"#,
        .listenRevoked(key("fleet"), TreeQuery(limit: TreeLimit(.first, 1)))
      ),
      (
        #"{"t":"d","d":{"a":"c","b":{"p":"","d":"Permission denied [0f]"}}}"#,
        .listenRevoked(.root, .all, detail: "Permission denied [0f]")
      ),
      (
        #"{"t":"d","d":{"a":"c","b":{"p":"a","q":[{"l":1,"vf":"l"}],"s":"failed","d":"x"}}}"#,
        .listenRevoked(key("a"), TreeQuery(limit: TreeLimit(.first, 1)), .failed, detail: "x")
      ),
      (
        #"{"t":"d","d":{"a":"ac","b":{"s":"expired_token","d":"text"}}}"#,
        .authRevoked(.expiredToken, detail: "text")
      ),
      (
        #"{"t":"d","d":{"a":"apc","b":{"s":"invalid_token","d":"text"}}}"#,
        .appCheckRevoked(.invalidToken, detail: "text")
      ),
      (#"{"t":"d","d":{"a":"sd","b":{"msg":"a\nb"}}}"#, .trace("a\nb")),
      (#"{"t":"d","d":{"error":"boom"}}"#, .fatal("boom")),
    ]
  }

  @Test("a handshake with an impossible time is malformed")
  func absurdTime() {
    for time in [Int64.min, .max] {
      let frame = #"{"t":"c","d":{"t":"h","d":{"ts":\#(time),"v":"5","h":"h","s":"s"}}}"#
      #expect(throws: WireError.self) { try TreeServerMessage.decode(Array(frame.utf8)) }
    }
  }

  @Test("frames are written and read as the reference prints them")
  func bothWays() throws {
    for (frame, message) in try ServerMessageTests.exact() {
      #expect(String(decoding: message.encode(), as: UTF8.self) == frame)
      #expect(try TreeServerMessage.decode(Array(frame.utf8)) == message)
    }
  }

  @Test("payloads are read when asked for")
  func payloads() throws {
    let text = #"{"t":"d","d":{"r":5,"b":{"s":"failed","d":"Index \"x\" not defined"}}}"#
    guard case .response(5, let failed) = try TreeServerMessage.decode(Array(text.utf8)) else {
      Issue.record("no response")
      return
    }
    #expect(failed.status == .failed)
    #expect(failed.detail == #"Index "x" not defined"#)
    #expect(try TreeResponse.data(["a": ["b": 1]]).node() == ["a": ["b": 1]])
    #expect(TreeResponse.listening(warnings: ["no_index"]).warnings == ["no_index"])
    #expect(TreeResponse.listening().warnings.isEmpty)
    let outcomes = [
      TreeResponse.Outcome(sequence: 3, status: .ok, version: 8),
      TreeResponse.Outcome(sequence: 4, status: .permissionDenied, detail: "no"),
    ]
    #expect(try TreeResponse.outcomes(outcomes).outcomes() == outcomes)
  }

  @Test("what a newer server says is skipped")
  func unknown() throws {
    for frame in [
      #"{"t":"c","d":{"t":"zz","d":1}}"#, #"{"t":"d","d":{"a":"zz","b":{}}}"#,
      #"{"t":"d","d":{}}"#,
    ] {
      #expect(try TreeServerMessage.decode(Array(frame.utf8)) == .unknown)
    }
    let push = #"{"t":"d","d":{"z":{},"a":"d","b":{"q":1,"p":"a","d":{".new":1,"x":2}}}}"#
    #expect(
      try TreeServerMessage.decode(Array(push.utf8)) == .put(TreePush(path: key("a"), ["x": 2])))
  }

  @Test("damaged frames are refused or understood, never the end of the process")
  func damaged() throws {
    var random = SeededGenerator(seed: 20)
    for (frame, _) in try ServerMessageTests.exact() {
      for _ in 0..<300 {
        let bytes = random.damage(Array(frame.utf8))
        if let message = try? TreeServerMessage.decode(bytes) { _ = message.encode() }
      }
    }
  }
}
