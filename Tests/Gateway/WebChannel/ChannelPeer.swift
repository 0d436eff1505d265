#if TCP && canImport(Glibc)
  import TernCore
  import Testing

  @testable import TernGateway

  /// A browser's client over sockets: one connection for its messages, one for the server's.
  final class ChannelPeer {
    static let database = "projects/demo/databases/(default)"

    private let port: Int
    private var script: ChannelScript
    private let forward: Peer
    private var back: Peer?
    private var reader = ChannelReader()
    private var nextMap: Int
    /// The number of arrays that a test has looked at.
    private var seen = 0
    private var isLongPoll: Bool
    private(set) var answer = ""

    /// Opens a session.
    ///
    /// - Parameter port: That of the server, or of a proxy in front of it.
    init(
      port: Int, method: String = "Listen", _ messages: [String], headers: String = "",
      query: String = "", isLongPoll: Bool = false
    ) throws {
      self.port = port
      self.isLongPoll = isLongPoll
      script = ChannelScript(method: method, origin: "http://localhost:5173", host: "localhost")
      forward = try Peer(port: port)
      nextMap = messages.count
      forward.send(script.handshake(messages, headers: headers, query: query))
      let (head, body) = forward.answer()
      try script.learn(head + body)
    }

    /// Sends messages.
    func say(_ messages: String...) {
      forward.send(script.forward(messages, from: nextMap, aid: reader.lastID))
      nextMap += messages.count
      answer = forward.body()
    }

    /// The next messages of the server, up to one that contains a text.
    func hear(through mark: String) throws -> [String] {
      while !reader.received.dropFirst(seen).contains(where: { $0.contains(mark) }) {
        try #require(try read(), "the connection ended before \(mark)")
      }
      let end = reader.received.dropFirst(seen).firstIndex { $0.contains(mark) } ?? seen
      defer { seen = end + 1 }
      return reader.received[seen...end].filter { $0 != #"["noop"]"# }
    }

    /// Reads what comes next; `false` when the connection is gone.
    private func read() throws -> Bool {
      let peer = try back ?? open()
      if isLongPoll {
        let (head, body) = peer.answer()
        back = nil
        try reader.read(body)
        return head.hasPrefix("HTTP/1.1 200")
      }
      let line = peer.read(through: "\r\n").dropLast(1)
      guard let count = Int(line, radix: 16), let part = peer.read(count: count + 2) else {
        return false
      }
      if count == 0 { back = nil }
      try reader.read(String(decoding: part.dropLast(2), as: UTF8.self))
      return true
    }

    /// Opens a back channel.
    private func open() throws -> Peer {
      let peer = try Peer(port: port)
      back = peer
      peer.send(script.back(aid: reader.lastID, longPoll: isLongPoll))
      if !isLongPoll { _ = peer.read(through: "\r\n\r\n") }
      return peer
    }

    /// Gives up a streamed response without having read a byte, and goes on with long polls.
    func giveStreamUp() throws {
      let peer = try Peer(port: port)
      peer.send(script.back(aid: reader.lastID))
      peer.reset()
      isLongPoll = true
    }

    /// Cuts the connection that the server's messages come over.
    func cut() {
      back?.reset()
      back = nil
    }

    /// Ends the session, as a page does that is left.
    func leave() {
      forward.send(script.terminate(aid: reader.lastID))
      _ = forward.answer()
    }

    // MARK: Messages

    /// Asks for a collection.
    ///
    /// - Parameters:
    ///   - token: That of the last snapshot the client has kept.
    ///   - count: The number of documents of it that the client has kept.
    static func add(
      _ target: Int, _ collection: String = "rooms", token: String? = nil, count: Int? = nil
    ) -> String {
      let token =
        (token.map { #","resumeToken":"\#($0)""# } ?? "")
        + (count.map { #","expectedCount":\#($0)"# } ?? "")
      return #"{"database":"\#(database)","addTarget":{"query":{"structuredQuery":{"from":"#
        + #"[{"collectionId":"\#(collection)"}],"orderBy":[{"field":{"fieldPath":"__name__"},"#
        + #""direction":"ASCENDING"}]},"parent":"\#(database)/documents"},"#
        + #""targetId":\#(target)\#(token)}}"#
    }

    static func remove(_ target: Int) -> String {
      #"{"database":"\#(database)","removeTarget":\#(target)}"#
    }

    static let hello = #"{"database":"\#(database)"}"#

    static func set(_ path: String, _ text: String, token: String) -> String {
      #"{"streamToken":"\#(token)","writes":[{"update":{"name":"\#(database)/documents/\#(path)","#
        + #""fields":{"text":{"stringValue":"\#(text)"}}}}]}"#
    }

    static func delete(_ path: String, token: String) -> String {
      #"{"streamToken":"\#(token)","writes":[{"delete":"\#(database)/documents/\#(path)"}]}"#
    }
  }

  /// A Write channel, which remembers its token.
  final class WriterPeer {
    let peer: ChannelPeer
    private var token = ""

    init(port: Int, isLongPoll: Bool = false) throws {
      peer = try ChannelPeer(
        port: port, method: "Write", [ChannelPeer.hello], isLongPoll: isLongPoll)
      let first = try peer.hear(through: "streamToken")
      #expect(first.last?.contains(#""streamId":"#) == true)
      learn(first)
    }

    private func learn(_ told: [String]) {
      let found = told.last?.firstMatch(of: /"streamToken":"([^"]+)"/)
      token = found.map { String($0.output.1) } ?? token
    }

    /// Writes a document; answers the server's answer.
    @discardableResult
    func set(_ path: String, _ text: String) throws -> String {
      peer.say(ChannelPeer.set(path, text, token: token))
      let told = try peer.hear(through: "streamToken")
      learn(told)
      return told.last ?? ""
    }

    func delete(_ path: String) throws {
      peer.say(ChannelPeer.delete(path, token: token))
      learn(try peer.hear(through: "streamToken"))
    }
  }

  /// Messages of a listener in few words.
  func brief(_ messages: [String]) -> [String] {
    messages.map { text in
      if let change = text.firstMatch(of: /"targetChangeType":"(\w+)"/) {
        return String(change.output.1)
      }
      if let document = text.firstMatch(of: /"documentChange":.*"name":"[^"]*\/([^"\/]+)"/) {
        return "change \(document.output.1)"
      }
      if let document = text.firstMatch(of: /"documentDelete":.*"document":"[^"]*\/([^"\/]+)"/) {
        return "delete \(document.output.1)"
      }
      return text.contains(#"{"targetChange":{"#) ? "boundary" : text
    }
  }

  /// The last token in messages of a listener.
  func token(in messages: [String]) throws -> String {
    let found = messages.compactMap { $0.firstMatch(of: /"resumeToken":"([^"]+)"/) }.last
    return String(try #require(found).output.1)
  }
#endif
