#if TCP
  import NIOCore
  import NIOEmbedded
  import Synchronization
  import TernCore
  import TernDocumentJSON
  import TernDocumentWire
  import TernServer
  import TernTransport
  import Testing

  @testable import TernGateway

  /// The handlers without sockets, a server that a test plays, and time in the test's hand.
  final class ChannelWorld {
    /// The server's end of one link.
    final class Heard: LinkHandler {
      let link: any Link
      private let state = Mutex((frames: [DocumentClientFrame](), closure: LinkClosure?.none))

      init(_ link: any Link) { self.link = link }

      func linkDidReceive(_ frames: [[UInt8]]) {
        let frames = frames.compactMap { try? DocumentClientFrame.decode($0) }
        state.withLock { $0.frames += frames }
      }

      func linkDidClose(_ reason: LinkClosure) { state.withLock { $0.closure = reason } }

      var closure: LinkClosure? { state.withLock { $0.closure } }

      var frames: [DocumentClientFrame] { state.withLock { $0.frames } }

      /// The call's opening.
      var opening: DocumentCallOpening? {
        for case .open(_, let opening) in frames { return opening }
        return nil
      }

      /// The client's messages, in JSON.
      func messages(_ method: DocumentMethod = .listen) -> [String] {
        frames.compactMap { frame in
          guard case .message(_, let bytes) = frame,
            let json = try? DocumentJSON.json(.request(method), binary: bytes)
          else { return nil }
          return String(decoding: json, as: UTF8.self)
        }
      }

      /// Sends a message of the server.
      func say(_ json: String, _ method: DocumentMethod = .listen) throws {
        try say([json], method)
      }

      func say(_ messages: [String], _ method: DocumentMethod = .listen) throws {
        for json in messages {
          let message = try DocumentJSON.binary(.response(method), json: Array(json.utf8))
          link.send(DocumentServerFrame.message(stream: 1, message).encode())
        }
        link.flush()
      }

      func end(_ status: DocumentStatus?) {
        link.send(DocumentServerFrame.end(stream: 1, status).encode())
        link.flush()
      }
    }

    /// The part that connections share beside the handlers.
    private final class Server: Sendable {
      let links = Mutex<[Heard]>([])
      private let draws = Mutex<UInt64>(0)

      func open(_ link: any Link) -> Heard {
        let heard = Heard(link)
        links.withLock { $0.append(heard) }
        return heard
      }

      /// Ids that a test can foresee.
      func randomBits() -> UInt64 {
        draws.withLock { draws in
          draws += 1
          return draws
        }
      }
    }

    let loop = EmbeddedEventLoop()
    let table: WebChannelTable
    let budget: MemoryBudget
    let limits: GatewayLimits
    private let server = Server()
    private let context: GatewayContext

    init(
      limits: GatewayLimits = GatewayLimits(),
      budget: MemoryBudget = MemoryBudget(limitBytes: 1 << 30)
    ) {
      self.limits = limits
      self.budget = budget
      let server = server
      let channels = WebChannelTables()
      table = channels.table(on: loop).value
      context = GatewayContext(
        options: GatewayOptions(limits: limits), ask: { _, answer in answer(.node(.empty)) },
        export: { _, _, _, _, _, _ in nil }, open: { server.open($0) }, installLink: { _, _ in },
        load: GatewayLoad(budget), polls: NIOLoopBound(PollTable(), eventLoop: loop),
        randomBits: { server.randomBits() }, channels: channels)
    }

    /// The server's ends of all links so far.
    var heard: [Heard] { server.links.withLock { $0 } }

    /// A new connection.
    func connect(from address: String = "127.0.0.1") throws -> ChannelConnection {
      let channel = EmbeddedChannel(loop: loop)
      try Gateway.install(context, in: channel)
      try channel.connect(to: SocketAddress(ipAddress: address, port: 1)).wait()
      return ChannelConnection(channel)
    }

    /// Sends one request on a connection of its own; answers what came back so far.
    func request(_ text: String, from address: String = "127.0.0.1") throws -> String {
      let connection = try connect(from: address)
      try connection.send(text)
      return try connection.sent()
    }

    /// Does what is due now.
    func settle() { loop.run() }

    func wait(seconds: Int) { loop.advanceTime(by: .seconds(Int64(seconds))) }

    func wait(milliseconds: Int) { loop.advanceTime(by: .milliseconds(Int64(milliseconds))) }
  }

  /// One connection without a socket.
  final class ChannelConnection {
    let channel: EmbeddedChannel

    init(_ channel: EmbeddedChannel) { self.channel = channel }

    func send(_ text: String) throws { try channel.writeInbound(ByteBuffer(string: text)) }

    /// Everything that was sent since the last look.
    func sent() throws -> String {
      channel.embeddedEventLoop.run()
      var all = ""
      while let bytes = try channel.readOutbound(as: ByteBuffer.self) {
        all += String(buffer: bytes)
      }
      return all
    }

    func close() throws { try channel.close().wait() }
  }

  /// The requests of a browser's client, as text.
  struct ChannelScript {
    var method = "Listen"
    var database = "projects%2Fdemo%2Fdatabases%2F(default)"
    var origin: String? = "http://app.example"
    var host = "db.example"
    /// The names that the answer to the handshake has.
    var session = ""
    var secret = ""

    private var path: String {
      "/google.firestore.v1.Firestore/\(method)/channel?VER=8&database=\(database)"
    }

    private var fields: String { origin.map { "Origin: \($0)\r\n" } ?? "" }

    private func post(_ query: String, _ body: String) -> String {
      "POST \(path)\(query) HTTP/1.1\r\nHost: \(host)\r\n\(fields)"
        + "Content-Type: application/x-www-form-urlencoded\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    func handshake(_ messages: [String], headers: String = "", query: String = "") -> String {
      let form = Self.form(messages, from: 0)
      let body = headers.isEmpty ? form : "headers=\(escapedForm(headers))&\(form)"
      return post(
        "&RID=45213&CVER=22&X-HTTP-Session-Id=gsessionid\(query)&zx=a1&t=1", body)
    }

    var named: String { "&gsessionid=\(secret)&SID=\(session)" }

    func forward(
      _ messages: [String], from first: Int, aid: Int, request: Int = 45214
    ) -> String {
      forward(form: Self.form(messages, from: first), aid: aid, request: request)
    }

    func forward(form: String, aid: Int, request: Int = 45214) -> String {
      post("\(named)&RID=\(request)&AID=\(aid)&zx=c3&t=1", form)
    }

    func back(aid: Int, longPoll: Bool = false, hold: Int? = nil) -> String {
      let hold = hold.map { "&TO=\($0)" } ?? ""
      return "GET \(path)\(named)&RID=rpc&AID=\(aid)&CI=\(longPoll ? 1 : 0)&TYPE=xmlhttp\(hold)"
        + "&zx=b2&t=1 HTTP/1.1\r\nHost: \(host)\r\n\(fields)\r\n"
    }

    func terminate(aid: Int) -> String { post("\(named)&RID=45300&TYPE=terminate&AID=\(aid)", "") }

    /// Learns the session's names from the answer to the handshake.
    mutating func learn(_ answer: String) throws {
      session = String(try #require(answer.firstMatch(of: /\["c","([\w-]+)"/)).output.1)
      secret = String(try #require(answer.firstMatch(of: /X-HTTP-Session-Id: ([\w-]+)/)).output.1)
    }

    /// The body with messages, as a client spells it.
    static func form(_ messages: [String], from first: Int) -> String {
      if messages.isEmpty { return "count=0" }
      let fields = messages.enumerated().map {
        "req\($0.offset)___data__=\(escapedForm($0.element))"
      }
      return "count=\(messages.count)&ofs=\(first)&" + fields.joined(separator: "&")
    }
  }

  extension String {
    /// The body of a response, joined from its parts.
    var channelBody: String {
      guard let head = firstRange(of: "\r\n\r\n") else { return "" }
      let rest = String(self[head.upperBound...])
      guard self[..<head.lowerBound].lowercased().contains("transfer-encoding: chunked") else {
        return rest
      }
      return rest.channelParts
    }

    /// The bytes of the parts of a chunked body.
    var channelParts: String {
      var joined: [UInt8] = []
      var rest = Array(utf8)[...]
      while let line = rest.firstIndex(of: 13), line + 2 <= rest.endIndex {
        let digits = String(decoding: rest[..<line], as: UTF8.self)
        guard let count = Int(digits, radix: 16), count > 0 else { break }
        joined += rest[(line + 2)...].prefix(count)
        rest = rest[(line + 2)...].dropFirst(count + 2)
      }
      return String(decoding: joined, as: UTF8.self)
    }
  }
#endif
