import TernCore
import TernQuery
import TernSecurity
import TernTestKit
import TernTreeWire
import Testing

@testable import TernServer

extension DirectRequest.Operation {
  /// Returns true for the same operation with the same data; for those that nodes pass on.
  fileprivate func isSame(as other: DirectRequest.Operation) -> Bool {
    switch (self, other) {
    case (.write(let write, let hash), .write(let other, let otherHash)):
      write == other && hash == otherHash
    case (.push(let path, let node), .push(let other, let otherNode)):
      path == other && node == otherNode
    case (.setRules(let text, let isTrial), .setRules(let other, let isOther)),
      (.setDocumentRules(let text, let isTrial), .setDocumentRules(let other, let isOther)):
      text == other && isTrial == isOther
    case (.removeDocumentRules, .removeDocumentRules), (.removeDatabase, .removeDatabase): true
    case (.set(let name, let value), .set(let other, let otherValue)):
      name == other && value == otherValue
    case (.revoke(let changes), .revoke(let others)): changes == others
    case (.read(let path, let query), .read(let other, let otherQuery)):
      path == other && query == otherQuery
    case (.names(let path, let after, let limit), .names(let other, let otherAfter, let most)):
      path == other && after == otherAfter && limit == most
    case (.mayWrite(let paths), .mayWrite(let others)): paths == others
    case (.mayPush(let path), .mayPush(let other)): path == other
    case (.readRules, .readRules), (.databases, .databases),
      (.rules(.readDocuments), .rules(.readDocuments)):
      true
    case (.readSetting(let name), .readSetting(let other)): name == other
    case (.rules(.explain(let question)), .rules(.explain(let other))):
      question.language == other.language && question.rules == other.rules
        && question.operation == other.operation && question.path == other.path
        && question.auth == other.auth && question.value == other.value
    default: false
    }
  }
}

@Suite("Frames of requests without a session") struct DirectFrameTests {
  /// A node with everything that a node can hold.
  private static func node() throws -> TreeNode {
    try TreeNode(
      json: #"""
        {"a":{".value":"x\u0001é🙂",".priority":1.5},"b":{".sv":"timestamp"},"10":-0.0,
         "c":{".sv":{"increment":-3}},"d":{"e":true,".priority":"p"},"f":9223372036854775807}
        """#)
  }

  private static func operations() throws -> [DirectRequest.Operation] {
    let node = try node()
    let merge = try TreeMerge([
      .init(path: "a/b", node: node), .init(path: "c", node: .empty), .init(path: "d", node: 1),
    ])
    let priority = try TreePath(writable: "a/.priority")
    return [
      .write(.set("a/b", node), expectedHash: nil), .write(.set(.root, .empty), expectedHash: ""),
      .write(.set(priority, 7), expectedHash: "abc="),
      .write(.merge("x", merge), expectedHash: nil),
      .write(.merge(.root, merge), expectedHash: "h"),
      .push("list", node), .push(.root, .empty),
      .setRules([0, 255, 10, 123], isTrial: false), .setRules([], isTrial: true),
      .setDocumentRules(Array("service {}".utf8), isTrial: false),
      .setDocumentRules(Array("{".utf8), isTrial: true), .removeDocumentRules, .removeDatabase,
      .set(.defaultWriteSizeLimit, .string("small")),
      .set(.strictTriggerValidation, .object([.init("a", .array([.null, .double(0.5)]))])),
      .revoke([.init("ada", .now), .init("*", .before(17)), .init("é", .never)]), .revoke([]),
      .revoke([.init("ada", .before(17)), .init("ada", .now)]),
    ]
  }

  /// Questions about databases of other shards.
  private static let questions: [DirectRequest.Operation] = [
    .read("a/b", .all), .read(.root, TreeQuery(order: .value, limit: TreeLimit(.last, 3))),
    .names("a", after: TreeKey(unchecked: "k"), limit: 7), .names(.root, after: nil, limit: nil),
    .mayWrite(["a", "b/c"]), .mayWrite([]), .mayPush("list"), .readRules, .databases,
    .readSetting(.strictTriggerValidation), .rules(.readDocuments),
    .rules(
      .explain(
        RulesQuestion(
          .tree, rules: Array("{}".utf8), operation: "read", path: "/a", auth: .null,
          value: .integer(1)))),
    .rules(
      .explain(
        RulesQuestion(
          .documents, rules: nil, operation: "get", path: "a/b",
          auth: .object([.init("uid", .string("ada"))]), value: .null))),
  ]

  private static let answers: [DirectAnswer] = [
    .node(.empty), .node(["a": ["b": "c"]]), .names([]),
    .names([TreeKey(unchecked: "a"), TreeKey(unchecked: "é")]), .databases(["default", "games"]),
    .written(.set("a/b", ["x": 1])), .written(.set(.root, .empty)),
    .written(.merge("m", TreeMerge(unchecked: [.init(path: "a", node: 1)]))),
    .pushed(TreeKey(unchecked: "-Nabc"), ["x": 1]), .pushed(TreeKey(unchecked: "-N"), .empty),
    .stale(.empty), .stale(["a": ["b": "c"]]), .done, .rules([]), .rules([0, 200, 34]),
    .setting(.null), .setting(.string("tiny")), .report(.object([.init("a", .array([.null]))])),
    .refused(.unauthenticated("no \"token\"")), .refused(.permissionDenied()),
    .refused(.permissionDenied(AccessRefusal(id: "id 1", reason: "line 4"))),
    .refused(.permissionDenied(AccessRefusal(id: nil, reason: ""))),
    .refused(.invalid("")), .refused(.tooBig(limitBytes: 1 << 40)), .refused(.damaged),
    .refused(.tooMany(RateExcess(isOfAddress: true, perSecond: 3, waitMilliseconds: 250))),
    .refused(.tooMany(RateExcess(isOfAddress: false, perSecond: 1, waitMilliseconds: 0))),
    .refused(.sentAway(.moved(host: "b.example.com:9000"))),
    .refused(.sentAway(.closed(reason: "closed"))), .refused(.unavailable("later")),
  ]

  @Test("every operation that is passed on comes out as it went in")
  func operations() throws {
    for (index, operation) in (try Self.operations() + Self.questions).enumerated() {
      let asked = DirectRequest(
        namespace: "data é", isLocal: true, address: "192.0.2.7",
        credential: Credential(.service, token: "t\"", override: .object([.init("uid", .null)])),
        sizeLimit: .tiny, operation)
      let bytes = try DirectFrame(asked, UInt64(index)).encoded()
      #expect(DirectFrame.begins(with: bytes))
      let frame = try DirectFrame(bytes, .request)
      #expect(frame.number == index)
      let read = try frame.request(isLocal: true, address: "198.51.100.1")
      #expect(read.operation.isSame(as: operation), "\(operation) became \(read.operation)")
      #expect(read.namespace == "data é" && read.sizeLimit == .tiny)
      #expect(read.address == "198.51.100.1", "the link tells it")
      var credential = asked.credential
      credential?.isLocal = true
      #expect(read.credential == credential)
    }
  }

  @Test("a credential's parts, and their absence, come out as they went in")
  func credentials() throws {
    let credentials: [Credential?] = [
      nil, Credential(.user, token: ""), Credential(.user, token: "a", override: .null),
    ]
    for credential in credentials {
      let asked = DirectRequest(
        namespace: "n", isLocal: true, credential: credential, .removeDocumentRules)
      let read = try DirectFrame(try DirectFrame(asked, 1).encoded(), .request)
        .request(isLocal: false, address: "")
      #expect(read.credential == credential && read.sizeLimit == nil)
    }
  }

  @Test("a request is local only where both its node and its link say so")
  func locality() throws {
    for (asks, link) in [(true, true), (true, false), (false, true), (false, false)] {
      let asked = DirectRequest(
        namespace: "n", isLocal: asks, credential: Credential(.service, token: "owner"),
        .removeDatabase)
      let read = try DirectFrame(try DirectFrame(asked, 1).encoded(), .request)
        .request(isLocal: link, address: "")
      #expect(read.isLocal == (asks && link))
      #expect(read.credential?.isLocal == (asks && link))
    }
  }

  @Test("every answer comes out as it went in")
  func answers() throws {
    var list = Revocations()
    list.revoke("ada", before: -4)
    list.revoke("*", before: 1_760_000_000)
    for answer in Self.answers + [.revocations(list), .revocations(Revocations())] {
      let bytes = try DirectFrame(answer, 1 << 40).encoded()
      let frame = try DirectFrame(bytes, .answer)
      #expect(frame.number == 1 << 40)
      #expect(try frame.answer() == answer)
      #expect(!DirectFrame.begins(with: bytes))
    }
  }

  @Test("long reasons are cut, so that every refusal fits")
  func longReasons() throws {
    let text = String(repeating: "\u{1}é", count: 1 << 17)
    let bytes = try DirectFrame(.refused(.invalid(text)), 1).encoded()
    guard case .refused(.invalid(let cut)) = try DirectFrame(bytes, .answer).answer() else {
      Issue.record("another answer")
      return
    }
    #expect(cut.unicodeScalars.count == DirectFrame.textScalars && text.hasPrefix(cut))
  }

  @Test("what is large at another shard is asked for in pieces")
  func pieces() throws {
    let asked = DirectRequest(namespace: "n", isLocal: true, .readOrExport("a"))
    let frame = try DirectFrame(try DirectFrame(asked, 1).encoded(), .request)
    guard case .readOrExport("a") = try frame.request(isLocal: true, address: "").operation else {
      Issue.record("not read")
      return
    }
    #expect(frame.pieceForm == nil)
    let large = try DirectFrame(try DirectFrame(.large, 1).encoded(), .answer)
    #expect(try large.answer() == .large)
    let review = DirectRequest(namespace: "n", isLocal: true, .review("a"))
    for form in [TreeNode.JSONForm.value, .export] {
      let frame = try DirectFrame(try DirectFrame(review, 1, in: form).encoded(), .request)
      #expect(frame.pieceForm == form)
      guard case .review("a") = try frame.request(isLocal: true, address: "").operation else {
        Issue.record("not asked for")
        return
      }
    }
    // A node of an earlier version asks for all at once.
    let old = DirectRequest(namespace: "n", isLocal: true, .read("a", .all))
    let whole = try DirectFrame(try DirectFrame(old, 1).encoded(), .request)
    #expect(try whole.request(isLocal: true, address: "").operation.isSame(as: old.operation))
    for bytes in [[1, 2], []] as [[UInt8]] {
      guard case .bytes(bytes) = try DirectFrame(DirectFrame.piece(bytes, 3), .answer).piece()
      else {
        Issue.record("another piece")
        continue
      }
    }
    guard case .end = try DirectFrame(DirectFrame.lastPiece(3), .answer).piece() else {
      Issue.record("no end")
      return
    }
    let other = try DirectFrame(try DirectFrame(.done, 1).encoded(), .answer)
    #expect(throws: DirectFrameError.malformed("no piece")) { try other.piece() }
  }

  @Test("questions need no leader, and what only this node can tell is not passed on")
  func notCarried() throws {
    for operation in Self.questions { #expect(!operation.isForLeader) }
    let others: [DirectRequest.Operation] = [
      .review(.root), .readRuleCoverage, .administer, .readRevocations, .rules(.check([], .tree)),
    ]
    for operation in others {
      #expect(!operation.isForLeader)
      #expect(throws: DirectFrameError.notCarried) {
        try DirectFrame(DirectRequest(namespace: "n", isLocal: true, operation), 1)
      }
    }
    for operation in try Self.operations() {
      switch operation {
      case .setRules(_, let isTrial), .setDocumentRules(_, let isTrial):
        #expect(operation.isForLeader == !isTrial, "a trial changes nothing")
      default: #expect(operation.isForLeader)
      }
    }
    #expect(throws: DirectFrameError.notCarried) { try DirectFrame(.coverage(nil), 1) }
  }

  @Test("paths of a write are read without its data")
  func questions() throws {
    func question(_ operation: DirectRequest.Operation) throws -> DirectRequest? {
      let asked = DirectRequest(namespace: "n", isLocal: true, operation)
      return try DirectFrame(try DirectFrame(asked, 1).encoded(), .request)
        .question(isLocal: true, address: "a")
    }
    guard
      case .mayWrite(["a"])? = try question(.write(.set("a", 1), expectedHash: "h"))?.operation,
      case .mayPush("b")? = try question(.push("b", 1))?.operation,
      case .mayWrite(["c/d", "c/e"])? = try question(
        .write(
          .merge("c", try TreeMerge([.init(path: "d", node: 1), .init(path: "e", node: 2)])),
          expectedHash: nil))?.operation
    else {
      Issue.record("another question")
      return
    }
    #expect(try question(.setRules([1], isTrial: false)) == nil)
    #expect(try question(.revoke([])) == nil)
  }

  @Test(
    "data that break a rule are told by their request's number",
    arguments: [
      #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a.b","d":1}}}"#,
      #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":{"x.y":1}}}}"#,
      #"{"t":"d","d":{"r":1,"a":"m","b":{"p":"/a","d":{"x":1,"x/y":2}}}}"#,
      "{\"t\":\"d\",\"d\":{\"r\":1,\"a\":\"p\",\"b\":{\"p\":\"/a\",\"d\":\(nested)}}}", "{",
    ])
  func invalidData(tail: String) throws {
    let frame = DirectFrame(
      .request, 9, [.init("ns", .string("n")), .init("op", .string("write"))],
      tail: Array(tail.utf8))
    let read = try DirectFrame(try frame.encoded(), .request)
    #expect {
      try read.request(isLocal: true, address: "")
    } throws: { error in
      guard case .invalid(9, let text)? = error as? DirectFrameError else { return false }
      return !text.isEmpty
    }
  }

  private static let nested =
    String(repeating: "[", count: 200) + String(repeating: "]", count: 200)

  @Test("frames of another kind, cut frames and heads that say too little are malformed")
  func malformed() throws {
    let write = TreeWrite.set("a", 1)
    let asked = DirectRequest(namespace: "n", isLocal: true, .write(write, expectedHash: nil))
    let good = try DirectFrame(asked, 1).encoded()
    let head = Int(good[4])
    for count in 0..<(5 + head) { expectMalformed(Array(good.prefix(count))) }
    expectMalformed([0x21] + good.dropFirst())
    expectMalformed([0x20, 0xFF, 0xFF, 0xFF, 0xFF] + good.dropFirst(5))
    for text in [
      "{}", "[]", #"{"r":-1}"#, #"{"r":1}"#, #"{"r":1,"ns":"n"}"#,
      #"{"r":1,"op":"removeDatabase"}"#,
      #"{"r":1,"ns":"n","op":"read"}"#, #"{"r":1,"ns":"n","op":"removeDatabase","size":"huge"}"#,
      #"{"r":1,"ns":"n","op":"removeDatabase","cred":{"kind":"owner","token":"a"}}"#,
      #"{"r":1,"ns":"n","op":"removeDatabase","cred":{"kind":"user"}}"#,
      #"{"r":1,"ns":"n","op":"removeDatabase","cred":{"kind":"user","token":"","override":1}}"#,
      #"{"r":1,"ns":"n","op":"set","setting":"other"}"#,
    ] {
      expectMalformed([0x20, 0, 0, 0, UInt8(text.utf8.count)] + Array(text.utf8) + [0x30])
    }
    for text in [
      "{}", #"[["a"]]"#, #"[["a",false]]"#, #"[["a",-1]]"#, #"[["a",1],["a",2]]"#, #"[["",1]]"#,
    ] {
      let frame = DirectFrame(
        .request, 1, [.init("ns", .string("n")), .init("op", .string("revoke"))],
        tail: Array(text.utf8))
      expectMalformed(try frame.encoded())
    }
  }

  private func expectMalformed(_ bytes: [UInt8], _ location: SourceLocation = #_sourceLocation) {
    #expect(sourceLocation: location) {
      _ = try DirectFrame(bytes, .request).request(isLocal: true, address: "")
    } throws: { error in
      guard case .malformed? = error as? DirectFrameError else { return false }
      return true
    }
  }

  @Test("a head that is too long is not sent")
  func longHead() throws {
    let token = String(repeating: "x", count: DirectFrame.headBytes)
    let asked = DirectRequest(
      namespace: "n", isLocal: true, credential: Credential(.user, token: token), .removeDatabase)
    #expect(throws: DirectFrameError.tooLong("head", limitBytes: DirectFrame.headBytes)) {
      try DirectFrame(asked, 1).encoded()
    }
  }

  @Test("damaged and random frames are read or rejected, and never stop the program")
  func damage() throws {
    let seed: UInt64 = 68
    var random = SeededGenerator(seed: seed)
    var samples: [[UInt8]] = []
    for operation in try Self.operations() {
      let asked = DirectRequest(
        namespace: "n", isLocal: true, credential: Credential(.user, token: "t"), operation)
      samples.append(try DirectFrame(asked, 5).encoded())
    }
    for answer in Self.answers { samples.append(try DirectFrame(answer, 5).encoded()) }
    var (readable, rejected) = (0, 0)
    for _ in 0..<20_000 {
      var bytes = samples[random.roll(samples.count)]
      switch random.roll(4) {
      case 0: bytes = (0..<random.roll(40)).map { _ in UInt8(random.roll(256)) }
      case 1: bytes.removeLast(random.roll(bytes.count))
      default: break
      }
      for _ in 0..<random.roll(4) where !bytes.isEmpty {
        bytes[random.roll(bytes.count)] = UInt8(random.roll(256))
      }
      do throws(DirectFrameError) {
        let kind: DirectFrame.Kind = bytes.first == 0x21 ? .answer : .request
        let frame = try DirectFrame(bytes, kind)
        if kind == .answer {
          _ = try frame.answer()
        } else {
          _ = try frame.question(isLocal: true, address: "")
          _ = try frame.request(isLocal: true, address: "")
        }
        readable += 1
      } catch {
        rejected += 1
      }
    }
    #expect(readable > 1_000 && rejected > 1_000, "\(readable), \(rejected) of seed \(seed)")
  }

  @Test("data of more than a limit are not short")
  func sizes() throws {
    let text = TreeNode(.string(String(repeating: "x", count: 1_000)))
    let many = try TreeNode(json: "[" + String(repeating: "1,", count: 100) + "1]")
    for (node, isShort) in [(text, false), (many, false), (TreeNode(.bool(true)), true)] {
      #expect(DirectRequest.Operation.push("a", node).isShort(limitBytes: 500) == isShort)
      let write = DirectRequest.Operation.write(.set("a", node), expectedHash: nil)
      #expect(write.isShort(limitBytes: 500) == isShort)
    }
    let rules = DirectRequest.Operation.setRules(text.jsonBytes(.value), isTrial: false)
    #expect(!rules.isShort(limitBytes: 500))
    let value = JSONValue.array(Array(repeating: .object([.init("a", .null)]), count: 40))
    #expect(!DirectRequest.Operation.set(.strictTriggerValidation, value).isShort(limitBytes: 500))
  }
}
