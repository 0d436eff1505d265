import TernCore
import TernTestKit
import Testing

@testable import TernGateway

@Suite("WebChannel, the session")
struct WebChannelSessionTests {
  private static func incoming(_ id: Int, _ text: String) -> WebChannelSession.Incoming {
    WebChannelSession.Incoming(id: id, content: .message(Array(text.utf8)))
  }

  private static func texts(_ contents: [WebChannelSession.Content]) -> [String] {
    contents.map {
      if case .message(let message) = $0 { String(decoding: message, as: UTF8.self) } else { "?" }
    }
  }

  private static func text(_ bytes: [UInt8]?) -> String? {
    bytes.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("a chunk counts UTF-16 code units")
  func lengths() {
    let greeting = #"[[0,["c","Xk3v9","",8,14,30000]]]"#
    for text in ["", "a", "é", "日本", "🐧", "a🐧é日\u{10FFFF}", greeting] {
      #expect(WebChannelChunk.lengthInUTF16(Array(text.utf8)) == text.utf16.count)
    }
    #expect(Self.text(WebChannelChunk.framed(Array("[1,5,0]".utf8))) == "7\n[1,5,0]")
  }

  @Test("messages are applied in order of their numbers, each once")
  func order() throws {
    var session = WebChannelSession(limits: WebChannelLimits())
    #expect(Self.texts(try session.receive([Self.incoming(1, "b")])) == [])
    #expect(session.earlyBytes == WebChannelLimits.arrayBytes + 1)
    #expect(Self.texts(try session.receive([Self.incoming(0, "a")])) == ["a", "b"])
    #expect(session.earlyBytes == 0)
    // A retry repeats old messages and appends new ones.
    let again = (0...3).map { Self.incoming($0, "abcd".map(String.init)[$0]) }
    #expect(Self.texts(try session.receive(again)) == ["c", "d"])
    // One that could not be encoded uses up its number.
    let missing = WebChannelSession.Incoming(id: 4, content: .missing)
    #expect(Self.texts(try session.receive([missing, Self.incoming(5, "f")])) == ["f"])
  }

  @Test("a message that is too far ahead changes nothing")
  func ahead() throws {
    var limits = WebChannelLimits()
    limits.maps = 3
    limits.formBytes = 1_000
    var session = WebChannelSession(limits: limits)
    #expect(throws: WebChannelError.self) { try session.receive([Self.incoming(4, "x")]) }
    #expect(throws: WebChannelError.self) {
      try session.receive([Self.incoming(0, "a"), Self.incoming(1 << 53, "x")])
    }
    #expect(throws: WebChannelError.self, "too many bytes wait") {
      try session.receive([Self.incoming(1, String(repeating: "x", count: 1_000))])
    }
    #expect(session.earlyBytes == 0)
    #expect(Self.texts(try session.receive([Self.incoming(0, "a")])) == ["a"])
  }

  @Test("a stream carries arrays until its limit, and a long poll ends behind one chunk")
  func modes() throws {
    var limits = WebChannelLimits()
    limits.responseBytes = 60
    var session = WebChannelSession(limits: limits)
    session.attach(WebChannelBack(isLongPoll: false))
    #expect(session.nextChunk() == nil)
    session.keepAlive()
    #expect(Self.text(session.nextChunk()) == "14\n[[1,[\"noop\"]]]")
    #expect(!session.isBackDone)
    session.append(message: Array("{}".utf8))
    session.append(message: Array(#"{"a":"🐧"}"#.utf8))
    session.keepAlive()
    #expect(Self.text(session.nextChunk()) == "27\n[[2,[{}]],[3,[{\"a\":\"🐧\"}]]]")
    #expect(!session.isBackDone)
    session.append(message: Array(#"{"a":1}"#.utf8))
    #expect(Self.text(session.nextChunk()) == "15\n[[4,[{\"a\":1}]]]")
    #expect(session.isBackDone, "60 bytes")
    session.detach()
    try session.acknowledge(3)
    session.attach(WebChannelBack(isLongPoll: true))
    #expect(Self.text(session.nextChunk()) == "15\n[[4,[{\"a\":1}]]]", "not acknowledged")
    #expect(session.isBackDone)
    #expect(Self.text(session.forwardAnswer()) == "8\n[1,4,13]")
    session.detach()
    try session.acknowledge(4)
    #expect(Self.text(session.forwardAnswer()) == "7\n[0,4,0]")
    #expect(throws: WebChannelError.self) { try session.acknowledge(5) }
  }

  @Test("what is kept is bounded, and a full window ends the response to be acknowledged")
  func window() throws {
    var limits = WebChannelLimits()
    limits.keptArrays = 2
    var session = WebChannelSession(limits: limits)
    session.append(message: Array("1".utf8))
    #expect(!session.isFull)
    session.append(message: Array("2".utf8))
    #expect(session.isFull)
    session.attach(WebChannelBack(isLongPoll: false))
    #expect(session.nextChunk() != nil)
    #expect(session.isBackDone)
    session.detach()
    try session.acknowledge(1)
    #expect(!session.isFull)
    limits.keptBytes = 100
    var bytes = WebChannelSession(limits: limits)
    bytes.append(message: [UInt8](repeating: UInt8(ascii: "1"), count: 500))
    #expect(bytes.isFull)
  }

  @Test("an error and the close are the last arrays, kept until they are acknowledged")
  func ends() throws {
    var session = WebChannelSession(limits: WebChannelLimits())
    session.end(DocumentStatus(.permissionDenied, "No \"entry\"."))
    session.append(message: Array("1".utf8))
    session.attach(WebChannelBack(isLongPoll: false))
    let json =
      #"[[1,[{"error":{"code":403,"message":"No \"entry\".","status":"PERMISSION_DENIED"}}]],"#
      + #"[2,["close"]]]"#
    #expect(Self.text(session.nextChunk()) == "\(json.utf16.count)\n\(json)")
    #expect(session.isBackDone)
    #expect(!session.isAcknowledged)
    session.detach()
    try session.acknowledge(2)
    #expect(session.isAcknowledged)
  }

  @Test("an aborted session drops what was not sent")
  func aborts() throws {
    var session = WebChannelSession(limits: WebChannelLimits())
    session.append(message: Array("1".utf8))
    session.attach(WebChannelBack(isLongPoll: false))
    _ = session.nextChunk()
    session.append(message: Array("2".utf8))
    session.abort()
    #expect(Self.text(session.nextChunk()) == "14\n[[2,[\"stop\"]]]")
    session.detach()
    session.attach(WebChannelBack(isLongPoll: false))
    #expect(Self.text(session.nextChunk()) == "22\n[[1,[1]],[2,[\"stop\"]]]")
  }

  /// A client and a server behind a network that loses, repeats, delays and cuts.
  fileprivate struct Wire {
    var random: SeededGenerator
    var session: WebChannelSession
    var reader = ChannelReader()
    /// Every message of the client, and the number of those it knows to have arrived.
    var spoken: [String] = []
    var settled = 0
    /// The messages that the server heard, and those that it said.
    var heard: [String] = []
    var said: [String] = []
    /// Requests that are on their way: a form and an acknowledgement.
    var underway: [(form: String, end: Int, aid: Int)] = []
    /// The part of the response that the client has not seen.
    var stream = ""
    var isOpen = false

    init(seed: UInt64) {
      random = SeededGenerator(seed: seed)
      var limits = WebChannelLimits()
      limits.keptArrays = 2 + random.roll(20)
      limits.responseBytes = 40 + random.roll(400)
      session = WebChannelSession(limits: limits)
    }

    mutating func step(isCalm: Bool) throws {
      switch random.roll(isCalm ? 4 : 7) {
      case 0: sendForward()
      case 1: try deliverForward(isCalm: isCalm)
      case 2: try openBack(isLongPoll: random.roll(3) == 0)
      case 3: try readBack(isCut: !isCalm && random.roll(4) == 0)
      case 4: if spoken.count - settled < 40 { spoken.append(Self.word(&random)) }
      case 5:
        guard !session.isFull else { return }
        let word = Self.word(&random)
        said.append(#"["\#(word)"]"#)
        session.append(message: JSONValue.string(word).bytes)
        pump()
      default:
        session.keepAlive()
        pump()
      }
    }

    static func word(_ random: inout SeededGenerator) -> String {
      let pieces = ["a", "é", "日", "🐧", "\u{10FFFF}", "+&=%"]
      return (0...random.roll(6)).map { _ in pieces[random.roll(6)] }.joined()
    }

    mutating func sendForward() {
      guard settled < spoken.count else { return }
      let end = min(spoken.count, settled + 1 + random.roll(8))
      // A client that sends messages out of order leaves a gap before the first one.
      let first = random.roll(3) == 0 ? max(0, settled - random.roll(100)) : settled
      let fields = (settled..<end).map {
        "req\($0 - first)___data__=" + escapedForm(spoken[$0])
      }
      let form = "count=\(fields.count)&ofs=\(first)&" + fields.joined(separator: "&")
      underway.append((form, end, reader.lastID))
    }

    mutating func deliverForward(isCalm: Bool) throws {
      guard !underway.isEmpty else { return }
      let index = random.roll(underway.count)
      let request = underway[index]
      let fate = isCalm ? 3 : random.roll(5)
      if fate != 1 { underway.remove(at: index) }
      // Lost before it arrived.
      if fate == 0 { return }
      let form = try WebChannelForm(Array(request.form.utf8), limits: GatewayLimits())
      try session.acknowledge(request.aid)
      let maps = form.maps.map { WebChannelSessionTests.incoming($0) }
      heard += WebChannelSessionTests.texts(try session.receive(maps))
      // The answer may be lost.
      if fate != 2 { settled = max(settled, request.end) }
    }

    mutating func openBack(isLongPoll: Bool) throws {
      // The client gave the old response up; what it did not read is lost.
      stream = ""
      session.detach()
      try session.acknowledge(reader.lastID)
      session.attach(WebChannelBack(isLongPoll: isLongPoll))
      isOpen = true
      pump()
    }

    mutating func pump() {
      guard isOpen, let chunk = session.nextChunk() else { return }
      stream += String(decoding: chunk, as: UTF8.self)
      if session.isBackDone {
        session.detach()
        isOpen = false
      }
    }

    mutating func readBack(isCut: Bool) throws {
      if isCut {
        let units = Array(stream.unicodeScalars)
        var part = String.UnicodeScalarView()
        part.append(contentsOf: units.prefix(random.roll(units.count + 1)))
        try reader.read(String(part))
        session.detach()
        isOpen = false
      } else {
        try reader.read(stream)
      }
      stream = ""
    }
  }

  private static func incoming(_ map: WebChannelForm.Map) -> WebChannelSession.Incoming {
    WebChannelSession.Incoming(id: map.id, content: map.json.map { .message($0) } ?? .missing)
  }

  @Test("loss, repetition and disorder: exactly once, in order", arguments: 0..<120)
  func exactlyOnce(run: UInt64) throws {
    let seed = run &* 0x9E37_79B9 &+ 17
    var wire = Wire(seed: seed)
    for _ in 0..<400 { try wire.step(isCalm: false) }
    for _ in 0..<4_000 where !wire.isSettled { try wire.step(isCalm: true) }
    #expect(wire.heard == wire.spoken, "seed \(seed)")
    #expect(wire.reader.data == wire.said, "seed \(seed)")
  }
}

extension WebChannelSessionTests.Wire {
  /// True when everything has arrived at both ends.
  fileprivate var isSettled: Bool {
    heard.count == spoken.count && reader.data.count == said.count
  }
}
