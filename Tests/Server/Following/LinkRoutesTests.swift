import TernCore
import TernDocumentWire
import TernQuery
import TernTreeWire
import Testing

@testable import TernServer

@Suite("routes of frames at a node that follows")
struct LinkRoutesTests {
  private static func request(_ number: UInt64, _ request: TreeRequest) -> [UInt8] {
    TreeClientMessage.request(number, request).encode()
  }

  private static func opened(stream: UInt128? = nil) -> LinkRoutes {
    var routes = LinkRoutes()
    let opening = TreeClientMessage.open(TreeOpening(stream: stream)).encode()
    #expect(routes.route(opening).map(\.route) == [.behindLog])
    return routes
  }

  private static func answer(_ number: UInt64) -> [UInt8] {
    TreeServerMessage.response(number, TreeResponse(.ok, version: 1)).encode()
  }

  @Test("writes of the tree go to the leader; what reads waits for the answers before it")
  func tree() {
    var routes = Self.opened()
    let put = Self.request(1, .put("a", 1, expectedHash: nil, .none))
    #expect(routes.route(put) == [RoutedFrame(frame: put, route: .leader)])
    let get = Self.request(2, .get("a", .all))
    #expect(routes.route(get).map(\.route) == [.behindWrites])
    #expect(routes.sent == 1)
    #expect(!routes.isAnswered(upTo: routes.sent))
    let later = Self.request(3, .put("a", 2, expectedHash: nil, .none))
    #expect(routes.route(later).map(\.route) == [.leader])
    #expect(routes.receive(Self.answer(1)) == .forClient)
    // The read came before the second write, and need not wait for it.
    #expect(routes.isAnswered(upTo: 1))
    #expect(!routes.isAnswered(upTo: 2))
    #expect(routes.receive(Self.answer(3)) == .forClient)
    #expect(routes.isAnswered(upTo: 2))
    #expect(routes.receive(Self.answer(3)) == .ignored)
  }

  @Test("answers may come in any order, and a number may be used again")
  func orders() {
    var routes = Self.opened()
    for number: UInt64 in [1, 2, 3, 2] {
      _ = routes.route(Self.request(number, .put("a", 1, expectedHash: nil, .none)))
    }
    #expect(routes.receive(Self.answer(3)) == .forClient)
    #expect(!routes.isAnswered(upTo: 1))
    #expect(routes.receive(Self.answer(1)) == .forClient)
    // The second request is not waited for: its number names the last one.
    #expect(routes.isAnswered(upTo: 3) && !routes.isAnswered(upTo: 4))
    #expect(routes.receive(Self.answer(2)) == .forClient)
    #expect(routes.isAnswered(upTo: 4))
    #expect(routes.receive(Self.answer(2)) == .ignored)
  }

  @Test("every request that changes something goes to the leader, and no other")
  func requests() {
    let changing: [TreeRequest] = [
      .put("a", 1, expectedHash: nil, .none), .put("a", 1, expectedHash: "", .none),
      .merge("a", TreeMerge(unchecked: []), .none), .onDisconnectSet("a", 1),
      .onDisconnectMerge("a", TreeMerge(unchecked: [])), .onDisconnectCancel("a"),
      .outcomes(stream: 1, first: 1, last: 2),
    ]
    let reading: [TreeRequest] = [
      .get("a", .all), .unlisten("a", .all, tag: nil), .listen(TreeListen(path: "a")),
      .stats(.object([])), .appCheck(token: nil), .unknown(action: "zz"),
    ]
    var routes = Self.opened()
    for (index, request) in changing.enumerated() {
      #expect(routes.route(Self.request(UInt64(index), request)).map(\.route) == [.leader])
    }
    for (index, request) in reading.enumerated() {
      let frame = Self.request(UInt64(100 + index), request)
      #expect(routes.route(frame).map(\.route) == [.behindWrites])
    }
    #expect(routes.route(TreeClientMessage.ping.encode()).map(\.route) == [.atOnce])
    #expect(routes.route(TreeClientMessage.keepAlive.encode()).map(\.route) == [.atOnce])
  }

  @Test("a link to the leader begins with the opening and the newest credential")
  func beginning() {
    var routes = Self.opened(stream: 7)
    let opening = TreeClientMessage.open(TreeOpening(stream: 7)).encode()
    #expect(routes.beginning(nil) == [opening])
    let first = Self.request(1, .auth(TreeCredential(.user, token: "a")))
    let second = Self.request(2, .auth(TreeCredential(.user, token: "b")))
    #expect(routes.route(first).map(\.route) == [.both])
    #expect(routes.route(second).map(\.route) == [.both])
    #expect(routes.beginning(nil) == [opening, second])
    let named = TreeClientMessage.open(with(TreeOpening(stream: 7)) { $0.session = "00ab" })
    #expect(routes.beginning("00ab") == [named.encode(), second])
    // This node has answered them.
    #expect(routes.receive(Self.answer(2)) == .ignored)
    #expect(routes.route(Self.request(3, .unauth)).map(\.route) == [.both])
    #expect(routes.beginning(nil) == [opening])
  }

  @Test("a large frame is not read to its end for its route")
  func large() {
    let text = String(repeating: "x", count: 2 << 20)
    var routes = Self.opened()
    let put = Self.request(1, .put("a", TreeNode(.string(text)), expectedHash: nil, .none))
    #expect(routes.route(put).map(\.route) == [.leader])
    // What it wants comes behind its data, or behind a second word about it.
    let backwards = Array(#"{"t":"d","d":{"b":{"p":"a","d":"\#(text)"},"r":2,"a":"p"}}"#.utf8)
    #expect(routes.route(backwards).map(\.route) == [.refused])
    let twice = Array(
      #"{"t":"d","d":{"r":2,"a":"g","b":{"p":"a","d":"\#(text)"},"a":"p"}}"#.utf8)
    #expect(routes.route(twice).map(\.route) == [.refused])
    let small = Array(#"{"t":"d","d":{"r":2,"a":"g","b":{"p":"a","d":1},"a":"p"}}"#.utf8)
    #expect(routes.route(small).map(\.route) == [.leader])
  }

  @Test("before its opening a link has nothing to tell the leader")
  func outOfTurn() {
    var routes = LinkRoutes()
    let put = Self.request(1, .put("a", 1, expectedHash: nil, .none))
    #expect(routes.route(put).map(\.route) == [.behindWrites])
    #expect(routes.route(Array("{nonsense".utf8)).map(\.route) == [.behindWrites])
    #expect(routes.beginning(nil) == [])
  }

  @Test("a session goes on without its leader, unless that owes it something")
  func loss() {
    var idle = Self.opened()
    #expect(idle.loseLeader() == [])
    var answered = Self.opened()
    _ = answered.route(Self.request(1, .put("a", 1, expectedHash: nil, .none)))
    var waiting = answered
    #expect(waiting.loseLeader() == nil)
    _ = answered.receive(Self.answer(1))
    #expect(answered.loseLeader() == [])
    var present = Self.opened()
    _ = present.route(Self.request(1, .onDisconnectSet("a", 1)))
    _ = present.receive(Self.answer(1))
    #expect(present.loseLeader() == nil)
    // Rejections of its numbered writes may be known to the leader's session alone.
    var numbering = Self.opened(stream: 7)
    _ = numbering.route(Self.request(1, .put("a", 1, expectedHash: nil, .none)))
    _ = numbering.receive(Self.answer(1))
    #expect(numbering.loseLeader() == nil)
  }

  @Test("the leader's control messages end the session, or are none of the client's business")
  func control() {
    var routes = Self.opened()
    #expect(routes.receive(TreeServerMessage.pong.encode()) == .ignored)
    #expect(routes.receive(TreeServerMessage.inquiry.encode()) == .openAgain)
    #expect(routes.receive(TreeServerMessage.error("no").encode()) == .end)
    #expect(routes.receive(TreeServerMessage.shutdown(reason: "no").encode()) == .end)
    #expect(routes.receive(TreeServerMessage.redirect(host: "").encode()) == .handOver)
    #expect(routes.receive(TreeServerMessage.redirect(host: "h").encode()) == .end)
    #expect(routes.receive(Array("garbage".utf8)) == .end)
  }

  private static let database = DocumentDatabase(unchecked: "p")

  private static func call(
    _ number: UInt32, _ method: DocumentMethod, _ body: DocumentRequest.Body? = nil
  ) -> [UInt8] {
    let message = body.map { DocumentRequest($0, in: database).encode() }
    return DocumentClientFrame.open(
      stream: number, DocumentCallOpening(method, message: message)
    ).encode()
  }

  @Test("calls about documents: writes and transactions go to the leader as a whole")
  func documents() {
    var routes = LinkRoutes()
    let key = DocumentKey(unchecked: "cities/oslo")
    let get = Self.call(1, .getDocument, .get(key, mask: nil, .now))
    #expect(routes.route(get).map(\.route) == [.behindLog])
    let within = Self.call(2, .getDocument, .get(key, mask: nil, .transaction([1])))
    #expect(routes.route(within).map(\.route) == [.leader])
    #expect(!routes.isIdle)
    let begun = Self.call(
      3, .batchGetDocuments, .batchGet([key], mask: nil, .begin(.readWrite(retrying: []))))
    #expect(routes.route(begun).map(\.route) == [.leader])
    let write = Self.call(4, .write)
    #expect(routes.route(write).map(\.route) == [.leader])
    let more = DocumentClientFrame.message(stream: 4, [1, 2]).encode()
    #expect(routes.route(more).map(\.route) == [.leader])
    let listen = Self.call(5, .listen)
    #expect(routes.route(listen).map(\.route) == [.behindLog])
    let target = DocumentClientFrame.message(stream: 5, [1, 2]).encode()
    #expect(routes.route(target).map(\.route) == [.behindLog])
    let end = DocumentServerFrame.answer(stream: 2, [1]).encode()
    #expect(routes.receive(end) == .forClient)
    #expect(routes.receive(end) == .ignored)
    // What the leader was to answer ends; the listen goes on.
    let lost = routes.loseLeader() ?? []
    let ended = lost.compactMap { frame -> UInt32? in
      guard case .end(let call, .some)? = try? DocumentServerFrame.decode(frame) else { return nil }
      return call
    }
    #expect(ended == [3, 4])
    #expect(routes.loseLeader() == [])
    #expect(routes.isIdle)
  }

  @Test("a call whose message comes later waits for it")
  func later() throws {
    var routes = LinkRoutes()
    let opening = Self.call(1, .runQuery)
    #expect(routes.route(opening) == [])
    let query = DocumentQuery.collection(try CollectionPath("cities"))
    let message = DocumentClientFrame.message(
      stream: 1, DocumentRequest(.query(query, .transaction([1])), in: Self.database).encode()
    ).encode()
    #expect(
      routes.route(message) == [opening, message].map { RoutedFrame(frame: $0, route: .leader) })
    let plain = Self.call(2, .runQuery)
    #expect(routes.route(plain) == [])
    // Later calls wait behind it: their numbers have to rise at either node.
    let write = Self.call(3, .write)
    #expect(routes.route(write) == [])
    let half = DocumentClientFrame.halfClose(stream: 2).encode()
    #expect(
      routes.route(half) == [plain, half].map { RoutedFrame(frame: $0, route: .behindLog) }
        + [RoutedFrame(frame: write, route: .leader)])
    // So many wait, and no more.
    #expect(routes.route(Self.call(4, .runQuery)) == [])
    for number in 5..<UInt32(5 + 256) { #expect(routes.route(Self.call(number, .listen)) == []) }
    #expect(routes.route(Self.call(500, .listen)).map(\.route) == [.refused])
  }

  @Test("what follows an opening or a credential waits for the leader's answer to it")
  func blocking() {
    var routes = Self.opened()
    let opening = routes.beginning(nil)[0]
    let credential = Self.request(1, .auth(TreeCredential(.user, token: "a")))
    _ = routes.route(credential)
    let put = Self.request(2, .put("a", 1, expectedHash: nil, .none))
    _ = routes.route(put)
    #expect(routes.blocks(opening) && routes.blocks(credential) && !routes.blocks(put))
    #expect(routes.blocks(Self.request(3, .unauth)))
    let handshake = TreeServerMessage.handshake(
      TreeHandshake(time: 0, host: "h", session: "s", lastSequence: nil)
    ).encode()
    #expect(routes.answersBlocking(handshake) && !routes.answersBlocking(Self.answer(1)))
    #expect(routes.receive(handshake) == .goOn)
    routes.noteSent(credential)
    #expect(routes.answersBlocking(Self.answer(1)) && !routes.answersBlocking(Self.answer(2)))
    var (refused, limited, earlier) = (routes, routes, routes)
    #expect(routes.receive(Self.answer(1)) == .goOn)
    // A user that the leader does not know must not write as the one before.
    let no = TreeServerMessage.response(1, TreeResponse(.invalidToken)).encode()
    #expect(refused.receive(no) == .credentialEnded(.invalidToken, ""))
    // A rate says nothing about the user, and a later credential is asked about as well.
    let later = TreeServerMessage.response(1, TreeResponse(.unavailable)).encode()
    #expect(limited.receive(later) == .end)
    _ = earlier.route(Self.request(9, .auth(TreeCredential(.user, token: "b"))))
    #expect(earlier.receive(no) == .end)
    let revoked = TreeServerMessage.authRevoked(.expiredToken, detail: "over").encode()
    #expect(routes.receive(revoked) == .credentialEnded(.expiredToken, "over"))
    #expect(!routes.isIdle)
    #expect(routes.receive(Self.answer(2)) == .forClient)
    #expect(routes.isIdle)
  }
}

@Suite("credentials at a node that follows")
struct CredentialRoutesTests {
  private static func auth(_ number: UInt64) -> [UInt8] {
    TreeClientMessage.request(number, .auth(TreeCredential(.user, token: "\(number)"))).encode()
  }

  private static func answer(_ number: UInt64, _ status: TreeStatus) -> [UInt8] {
    TreeServerMessage.response(number, TreeResponse(status)).encode()
  }

  /// Routes of a client that has shown credentials with these numbers.
  private static func routes(_ numbers: ClosedRange<UInt64>) -> LinkRoutes {
    var routes = LinkRoutes()
    _ = routes.route(TreeClientMessage.open(TreeOpening()).encode())
    for number in numbers { _ = routes.route(auth(number)) }
    return routes
  }

  @Test("a link to the leader begins with the newest credential that this node accepts")
  func restored() {
    var routes = Self.routes(1...2)
    let whole = routes.beginning(nil).first ?? []
    #expect(routes.beginning(nil) == [whole, Self.auth(2)])
    #expect(routes.noteRejected(2) == true)
    #expect(routes.beginning(nil) == [whole, Self.auth(1)])
    #expect(routes.noteRejected(1) == true)
    #expect(routes.beginning(nil) == [whole])
  }

  @Test("a credential longer than any token is refused, for what follows it would not wait")
  func longCredential() {
    var routes = Self.routes(1...1)
    let token = String(repeating: "x", count: LargeFrame.leastBytes)
    let long = TreeClientMessage.request(2, .auth(TreeCredential(.user, token: token))).encode()
    #expect(routes.route(long).map(\.route) == [.refused])
    #expect(routes.route(Self.auth(3)).map(\.route) == [.both])
  }

  @Test("another link to the leader knows the client by no credential yet")
  func otherLink() {
    var routes = Self.routes(1...1)
    routes.noteSent(Self.auth(1))
    #expect(routes.receive(Self.answer(1, .ok)) == .goOn)
    var other = routes
    other.loseBeginning()
    #expect(!routes.noteRejected(1) && other.noteRejected(1))
  }

  @Test("a credential that both nodes reject changes nothing")
  func rejectedByBoth() {
    var routes = Self.routes(1...2)
    routes.noteSent(Self.auth(1))
    #expect(routes.receive(Self.answer(1, .ok)) == .goOn)
    routes.noteSent(Self.auth(2))
    #expect(routes.noteRejected(2) == true)
    #expect(routes.receive(Self.answer(2, .expiredToken)) == .goOn)
    #expect(routes.beginning(nil).last == Self.auth(1))
  }

  @Test("a link ends at which the leader knows the client as another user than this node")
  func accepted() {
    var early = Self.routes(1...1)
    early.noteSent(Self.auth(1))
    var late = early
    #expect(early.noteRejected(1) == true)
    #expect(early.receive(Self.answer(1, .ok)) == .end)
    #expect(late.receive(Self.answer(1, .ok)) == .goOn)
    #expect(late.noteRejected(1) == false)
    // The leader knows no user, and this node the one before.
    var begun = Self.routes(1...2)
    begun.noteSent(Self.auth(2))
    #expect(begun.noteRejected(2) == true)
    #expect(begun.receive(Self.answer(2, .invalidToken)) == .end)
  }
}

private func with<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
  var value = value
  change(&value)
  return value
}
