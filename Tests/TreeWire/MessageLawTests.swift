import TernCore
import TernQuery
import TernTestKit
import Testing

@testable import TernTreeWire

@Suite("Laws of the tree's messages")
struct MessageLawTests {
  @Test("what a client says is read as it was meant", arguments: UInt64(1)...20)
  func client(seed: UInt64) throws {
    var messages = RandomMessages(seed: seed)
    for _ in 0..<40 {
      let message = messages.clientMessage()
      let frame = message.encode()
      #expect(try TreeClientMessage.decode(frame) == message)
      let shuffled = JSONValue.shuffled(try JSONValue(parsing: frame), &messages.random)
      #expect(try TreeClientMessage.decode(shuffled.bytes) == message, "\(shuffled.json)")
    }
  }

  @Test("what a server says is read as it was meant", arguments: UInt64(1)...20)
  func server(seed: UInt64) throws {
    var messages = RandomMessages(seed: seed)
    for _ in 0..<40 {
      let message = messages.serverMessage()
      let frame = message.encode()
      #expect(try TreeServerMessage.decode(frame) == message)
      if case .response(_, let response) = message, response.payload.first != UInt8(ascii: "\"") {
        continue
      }
      let shuffled = JSONValue.shuffled(try JSONValue(parsing: frame), &messages.random)
      #expect(try TreeServerMessage.decode(shuffled.bytes) == message, "\(shuffled.json)")
    }
  }

  @Test("the head of a frame is that of its message", arguments: UInt64(1)...20)
  func heads(seed: UInt64) throws {
    var messages = RandomMessages(seed: seed)
    for _ in 0..<40 {
      let message = messages.clientMessage()
      let frame = message.encode()
      guard case .request(let number, let request) = message else {
        #expect(TreeFrameHead(frame) == .control("o"))
        #expect(TreeFrameHead(beforeDataOf: frame) == nil)
        continue
      }
      let head = TreeFrameHead.numbered(number, action: request.action)
      #expect(TreeFrameHead(frame) == head)
      #expect(TreeFrameHead(beforeDataOf: frame) == head)
      #expect(TreeClientMessage.requestNumber(of: frame) == number)
      // Nothing behind the head is read for it.
      let count = frame.count - 1 - messages.random.roll(frame.count / 4)
      let cut = Array(frame[..<count])
      let early = TreeFrameHead(beforeDataOf: cut)
      #expect(early == head || early == nil)
      #expect(TreeFrameHead(cut) == .malformed)
    }
  }

  @Test("heads of what is no request")
  func otherHeads() {
    func head(_ text: String) -> TreeFrameHead { TreeFrameHead(Array(text.utf8)) }
    #expect(head("0") == .keepAlive)
    #expect(head("1") == .malformed)
    #expect(head("") == .malformed)
    #expect(head(#"{"t":"d","d":{}}"#) == .malformed)
    #expect(head(#"{"t":"d","d":{"a":"d","b":{}}}"#) == .push("d"))
    #expect(head(#"{"t":"d","d":{"r":7,"b":{}}}"#) == .numbered(7, action: nil))
    #expect(head(#"{"d":{"t":"h","d":{}},"t":"c"}"#) == .control("h"))
    #expect(head(#"{"t":"d","d":{"r":-1,"a":"q"}}"#) == .malformed)
    #expect(head(#"{"t":"d","d":{"r":1.5,"a":"q"}}"#) == .malformed)
  }

  @Test(
    "a response is written once as it is in two steps, up to its limit", arguments: UInt64(1)...20)
  func responses(seed: UInt64) {
    var messages = RandomMessages(seed: seed)
    for _ in 0..<20 {
      let (number, node) = (messages.number(), messages.node(3))
      let size = node.jsonBytes(.export).count
      let frame = TreeServerMessage.response(number, .data(node)).encode()
      #expect(TreeServerMessage.response(number, with: node, limitBytes: size) == frame)
      #expect(TreeServerMessage.response(number, with: node, limitBytes: size + 1) == frame)
      #expect(TreeServerMessage.response(number, with: node, limitBytes: size - 1) == nil)
    }
  }

  @Test(
    "ids of streams are 32 hexadecimal digits",
    arguments: [
      ("0102030405060708090a0b0c0d0e0f10", true), ("00000000000000000000000000000000", true),
      ("ffffffffffffffffffffffffffffffff", true), ("", false),
      ("0102030405060708090a0b0c0d0e0f1", false), ("0102030405060708090a0b0c0d0e0f100", false),
      ("+102030405060708090a0b0c0d0e0f10", false), ("-0000000000000000000000000000000", false),
      (" 102030405060708090a0b0c0d0e0f10", false), ("g102030405060708090a0b0c0d0e0f10", false),
      ("0x02030405060708090a0b0c0d0e0f10", false), ("\u{661}02030405060708090a0b0c0d0e0f1", false),
    ])
  func streams(text: String, isAllowed: Bool) throws {
    for member in ["c", "o"] {
      let frame = #"{"t":"c","d":{"t":"o","d":{"\#(member)":"\#(text)"}}}"#
      if isAllowed {
        let message = try TreeClientMessage.decode(Array(frame.utf8))
        guard case .open(let opening) = message else {
          Issue.record("\(message)")
          return
        }
        let id = try #require(member == "c" ? opening.stream : opening.origin)
        #expect(StreamID.text(id) == text)
      } else {
        #expect(throws: WireError.malformed(member)) {
          try TreeClientMessage.decode(Array(frame.utf8))
        }
      }
    }
    let write = #"{"t":"d","d":{"r":1,"a":"p","b":{"p":"a","d":1,"w":["\#(text)",1]}}}"#
    let isRead = (try? TreeClientMessage.decode(Array(write.utf8))) != nil
    #expect(isRead == isAllowed)
  }

  @Test("payloads that are no outcomes, and outcomes that are", arguments: UInt64(1)...10)
  func outcomes(seed: UInt64) throws {
    var messages = RandomMessages(seed: seed)
    let outcomes = (0..<messages.random.roll(5)).map { _ in
      TreeResponse.Outcome(
        sequence: messages.number(), status: TreeStatus(rawValue: messages.text()),
        detail: messages.text(), version: messages.random.roll(2) == 0 ? messages.number() : nil)
    }
    #expect(try TreeResponse.outcomes(outcomes).outcomes() == outcomes)
    for payload in ["null", "{}", #"{"o":1}"#, #"{"o":[{"n":1}]}"#, #"{"o":[{"s":"ok"}]}"#, "["] {
      let response = TreeResponse(.ok, payload: Array(payload.utf8))
      #expect(throws: WireError.self) { try response.outcomes() }
    }
  }

  @Test("warnings and details are read where they are, and nowhere else")
  func details() {
    #expect(TreeResponse.listening(warnings: ["a", "b"]).warnings == ["a", "b"])
    #expect(TreeResponse.listening().warnings == [])
    #expect(TreeResponse(.failed, detail: "x\"").detail == "x\"")
    for payload in ["{", "1", #"{"w":1}"#, #"{"w":[1]}"#] {
      let response = TreeResponse(.ok, payload: Array(payload.utf8))
      #expect(response.warnings == [] && response.detail == "")
    }
    #expect(throws: WireError.self) { try TreeResponse(.ok, payload: [0x7B]).node() }
    #expect(throws: WireError.self) { try TreeResponse(.ok, payload: []).value() }
  }
}

extension JSONValue {
  /// The same value with the members of the objects of an envelope in another order. Data keep
  /// theirs: they are compared as text.
  static func shuffled(_ value: JSONValue, _ random: inout SeededGenerator, depth: Int = 3)
    -> JSONValue
  {
    guard depth > 0, case .object(let members) = value else { return value }
    return .object(
      members.map { Member($0.name, shuffled($0.value, &random, depth: depth - 1)) }
        .shuffled(using: &random))
  }
}
