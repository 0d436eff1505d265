import TernCore
import TernQuery
import TernTestKit
import Testing

@testable import TernTreeWire

private func key(_ text: String) -> TreePath {
  TreePath(unchecked: text.split(separator: "/").map { TreeKey(unchecked: String($0)) })
}

private func entry(_ path: String, _ node: TreeNode) -> TreeMerge.Entry {
  TreeMerge.Entry(path: key(path), node: node)
}

@Suite("What clients say")
struct ClientMessageTests {
  static let stream: UInt128 = 0x0102_0304_0506_0708_090A_0B0C_0D0E_0F10

  /// Frames exactly as this side writes them, and what they mean.
  static func exact() throws -> [(String, TreeClientMessage)] {
    try listens() + writes() + others()
  }

  private static func named(_ session: String, after last: String) -> TreeOpening {
    var opening = TreeOpening(lastSession: last)
    opening.session = session
    return opening
  }

  static func listens() -> [(String, TreeClientMessage)] {
    let eta = TreeQuery(
      order: .child(key("eta")), end: TreeBound(900), limit: TreeLimit(.first, 2))
    return [
      (#"{"t":"c","d":{"t":"p","d":{}}}"#, .ping),
      ("0", .keepAlive),
      (
        #"{"t":"c","d":{"t":"o","d":{"v":"5","ns":"default","c":"0102030405060708090a0b0c0d0e0f10","ls":"s1"}}}"#,
        .open(TreeOpening(stream: stream, lastSession: "s1"))
      ),
      (
        #"{"t":"c","d":{"t":"o","d":{"v":"5","ns":"default","c":"0102030405060708090a0b0c0d0e0f10","o":"0000000000000000000000000000004d"}}}"#,
        .open(TreeOpening(stream: stream, origin: 77))
      ),
      (
        #"{"t":"c","d":{"t":"o","d":{"v":"5","ns":"default","ls":"s1","si":"s2"}}}"#,
        .open(named("s2", after: "s1"))
      ),
      (
        #"{"t":"d","d":{"r":4,"a":"q","b":{"p":"/fleet/7","h":""}}}"#,
        .request(4, .listen(TreeListen(path: key("fleet/7"))))
      ),
      (
        #"{"t":"d","d":{"r":5,"a":"q","b":{"p":"/fleet","q":{"ein":true,"ep":900,"i":"eta","l":2,"vf":"l"},"t":1,"h":""}}}"#,
        .request(5, .listen(TreeListen(path: key("fleet"), query: eta, tag: 1)))
      ),
      (
        #"{"t":"d","d":{"r":6,"a":"q","b":{"p":"/f","h":"LkoDN24b","ch":{"hs":["a","b",""],"ps":["fleet/7/lat","zz"]}}}}"#,
        .request(
          6,
          .listen(
            TreeListen(
              path: key("f"), hash: "LkoDN24b",
              compoundHash: TreeCompoundHash(
                hashes: ["a", "b", ""], posts: [key("fleet/7/lat"), key("zz")]))))
      ),
      (
        #"{"t":"d","d":{"r":9,"a":"n","b":{"p":"/fleet","q":{"ein":true,"ep":900,"i":"eta","l":2,"vf":"l"},"t":1}}}"#,
        .request(9, .unlisten(key("fleet"), eta, tag: 1))
      ),
    ]
  }

  static func writes() throws -> [(String, TreeClientMessage)] {
    [
      (
        #"{"t":"d","d":{"r":10,"a":"p","b":{"p":"/fleet/7/eta","d":840}}}"#,
        .request(10, .put(key("fleet/7/eta"), 840, expectedHash: nil, .none))
      ),
      (
        #"{"t":"d","d":{"r":10,"a":"p","b":{"p":"/a/.priority","d":2,"h":"x","w":7,"wa":5}}}"#,
        .request(
          10,
          .put(
            TreePath(unchecked: key("a").keys + [.priority]), 2, expectedHash: "x",
            WriteHeader(WriteIdempotencyKey(sequence: 7), acknowledged: 5)))
      ),
      (
        #"{"t":"d","d":{"r":11,"a":"m","b":{"p":"/","d":{"fleet/7/eta":830,"log/-Ob":{"at":{".sv":"timestamp"},"by":"ann"},"tmp":null},"w":["0102030405060708090a0b0c0d0e0f10",3]}}}"#,
        .request(
          11,
          .merge(
            .root,
            try TreeMerge([
              entry("fleet/7/eta", 830),
              entry("log/-Ob", ["at": TreeNode(.serverValue(.timestamp)), "by": "ann"]),
              entry("tmp", .empty),
            ]), WriteHeader(WriteIdempotencyKey(stream: stream, sequence: 3))))
      ),
    ]
  }

  static func others() throws -> [(String, TreeClientMessage)] {
    [
      (
        #"{"t":"d","d":{"r":12,"a":"g","b":{"p":"/fleet","q":{"i":".key","l":3,"vf":"r"}}}}"#,
        .request(12, .get(key("fleet"), TreeQuery(order: .key, limit: TreeLimit(.last, 3))))
      ),
      (
        #"{"t":"d","d":{"r":12,"a":"g","b":{"p":"/fleet","q":{}}}}"#,
        .request(12, .get(key("fleet"), .all))
      ),
      (
        #"{"t":"d","d":{"r":13,"a":"o","b":{"p":"/presence/ann","d":{"at":{".sv":"timestamp"},"state":"off"}}}}"#,
        .request(
          13,
          .onDisconnectSet(
            key("presence/ann"),
            ["at": TreeNode(.serverValue(.timestamp)), "state": "off"]))
      ),
      (
        #"{"t":"d","d":{"r":14,"a":"om","b":{"p":"/presence/ann","d":{"state":"off"}}}}"#,
        .request(
          14, .onDisconnectMerge(key("presence/ann"), try TreeMerge([entry("state", "off")])))
      ),
      (
        #"{"t":"d","d":{"r":15,"a":"oc","b":{"p":"/presence/ann","d":null}}}"#,
        .request(15, .onDisconnectCancel(key("presence/ann")))
      ),
      (
        #"{"t":"d","d":{"r":16,"a":"wo","b":{"f":3,"l":9}}}"#,
        .request(16, .outcomes(stream: nil, first: 3, last: 9))
      ),
      (
        #"{"t":"d","d":{"r":1,"a":"auth","b":{"cred":"a.b.c","authvar":{"uid":"x"}}}}"#,
        .request(
          1,
          .auth(
            TreeCredential(
              .user, token: "a.b.c",
              override: .object([JSONValue.Member("uid", .string("x"))]))))
      ),
      (
        #"{"t":"d","d":{"r":1,"a":"gauth","b":{"cred":"owner"}}}"#,
        .request(1, .auth(TreeCredential(.service, token: "owner")))
      ),
      (#"{"t":"d","d":{"r":20,"a":"unauth","b":{}}}"#, .request(20, .unauth)),
      (
        #"{"t":"d","d":{"r":2,"a":"appcheck","b":{"token":"t"}}}"#,
        .request(2, .appCheck(token: "t"))
      ),
      (#"{"t":"d","d":{"r":2,"a":"unappeck","b":{}}}"#, .request(2, .appCheck(token: nil))),
      (
        #"{"t":"d","d":{"r":3,"a":"s","b":{"c":{"sdk.js.12-0-0":1}}}}"#,
        .request(3, .stats(.object([JSONValue.Member("sdk.js.12-0-0", .integer(1))])))
      ),
      (#"{"t":"d","d":{"r":3,"a":"zap","b":{}}}"#, .request(3, .unknown(action: "zap"))),
    ]
  }

  @Test("frames are written and read as the reference prints them")
  func bothWays() throws {
    for (frame, message) in try ClientMessageTests.exact() {
      #expect(String(decoding: message.encode(), as: UTF8.self) == frame)
      #expect(try TreeClientMessage.decode(Array(frame.utf8)) == message)
    }
  }

  @Test("members come in any order, unknown ones are skipped, old action names are known")
  func liberal() throws {
    let listen = TreeClientMessage.request(4, .listen(TreeListen(path: key("a/b"))))
    for frame in [
      #"{"d":{"b":{"h":"","p":"a/b","new":[1,{"x":"]}"}]},"a":"q","r":4},"t":"d"}"#,
      #" { "t" : "d" , "x" : 1 , "d" : { "r" : 4 , "a" : "l" , "b" : { "p" : "//a/b/" } } } "#,
    ] {
      #expect(try TreeClientMessage.decode(Array(frame.utf8)) == listen)
    }
  }

  @Test(
    "a bad request names its number",
    arguments: [
      #"{"t":"d","d":{"r":7,"a":"p","b":{"p":"/a.b","d":1}}}"#,
      #"{"t":"d","d":{"r":7,"a":"p","b":{"p":"/a"}}}"#,
      #"{"t":"d","d":{"r":7,"a":"p","b":{"d":1}}}"#,
      #"{"t":"d","d":{"r":7,"a":"p","b":{"p":"/a","d":{"x#":1}}}}"#,
      #"{"t":"d","d":{"r":7,"a":"p","b":{"p":"/a","d":{".sv":"x"}}}}"#,
      #"{"t":"d","d":{"r":7,"a":"m","b":{"p":"/a","d":{"b":1,"b/c":2}}}}"#,
      #"{"t":"d","d":{"r":7,"a":"m","b":{"p":"/a","d":5}}}"#,
      #"{"t":"d","d":{"r":7,"a":"q","b":{"p":"/a","q":{"l":0}}}}"#,
      #"{"t":"d","d":{"r":7,"a":"p","b":{"p":"/a","d":1,"w":0}}}"#,
      #"{"t":"d","d":{"r":7,"a":"auth","b":{}}}"#,
      #"{"t":"d","d":{"r":7,"a":"p"}}"#,
    ])
  func badRequest(frame: String) {
    do throws(WireError) {
      Issue.record("accepted as \(try TreeClientMessage.decode(Array(frame.utf8)))")
    } catch {
      guard case .request(7, _) = error else {
        Issue.record("wrong error \(error)")
        return
      }
    }
  }

  @Test(
    "a bad envelope is the connection's end",
    arguments: [
      "", "{", "[]", "1", #"{"t":"d"}"#, #"{"t":"x","d":{}}"#, #"{"t":"d","d":{"a":"p"}}"#,
    ])
  func badEnvelope(frame: String) {
    do throws(WireError) {
      Issue.record("accepted as \(try TreeClientMessage.decode(Array(frame.utf8)))")
    } catch {
      if case .request = error { Issue.record("wrong error \(error)") }
    }
  }

  @Test("damaged frames are refused or understood, never the end of the process")
  func damaged() throws {
    var random = SeededGenerator(seed: 20)
    for (frame, _) in try ClientMessageTests.exact() {
      for _ in 0..<300 {
        let bytes = random.damage(Array(frame.utf8))
        if let message = try? TreeClientMessage.decode(bytes) { _ = message.encode() }
      }
    }
  }
}
