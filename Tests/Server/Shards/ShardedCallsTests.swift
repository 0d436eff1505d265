import TernCore
import TernDocumentWire
import TernLedger
import TernQuery
import TernTreeWire
import Testing

@testable import TernServer

@Suite("shards of frames and calls")
struct ShardedCallsTests {
  private static func directory() throws -> ShardDirectoryDouble {
    ShardDirectoryDouble(
      try ShardTable([1: ["games", "projects/p/databases/games"], 2: ["projects/q/*"]]))
  }

  private static func call(
    _ number: UInt32, _ method: DocumentMethod, _ message: [UInt8]?
  ) -> [UInt8] {
    DocumentClientFrame.open(stream: number, DocumentCallOpening(method, message: message))
      .encode()
  }

  private static func message(_ body: DocumentRequest.Body, in name: String) throws -> [UInt8] {
    let parts = name.split(separator: "/").map(String.init)
    let database = try DocumentDatabase(projectID: parts[0], databaseID: parts[1])
    return DocumentRequest(body, in: database).encode()
  }

  /// A message without its field 1, whose length takes one byte.
  private static func withoutFirstField(_ message: [UInt8]) -> [UInt8] {
    message.first == 0x0a ? Array(message.dropFirst(2 + Int(message[1]))) : message
  }

  private static func places(_ frames: [ShardedFrame]) -> [FramePlace<UInt32>] {
    frames.map(\.place)
  }

  @Test("every request names its database in the field that is looked at")
  func names() throws {
    let key = try DocumentKey("cities/oslo")
    let set = DocumentMutation(key, .set(["n": .integer(1)]))
    let query = DocumentQuery.collection(try CollectionPath("cities"))
    let requests: [(DocumentMethod, DocumentRequest.Body)] = [
      (.getDocument, .get(key, mask: nil, .now)),
      (.batchGetDocuments, .batchGet([key], mask: nil, .now)),
      (.beginTransaction, .begin(.readWrite(retrying: []))), (.runQuery, .query(query, .now)),
      (.commit, .commit([set], transaction: [], nil)), (.rollback, .rollback(transaction: [1])),
      (.batchWrite, .batchWrite([set])),
      (
        .listCollectionIDs,
        .listCollections(
          below: key, DocumentPageRequest(), .now)
      ),
    ]
    for (method, body) in requests {
      let message = try Self.message(body, in: "p/games")
      #expect(
        DocumentRequest.databaseName(in: message, of: method) == "projects/p/databases/games",
        "\(method)")
    }
    #expect(DocumentRequest.databaseName(in: [], of: .commit) == nil)
    #expect(DocumentRequest.databaseName(in: [0x0a, 9, 1], of: .commit) == nil)
    #expect(DocumentRequest.databaseName(in: [0x0a, 1, 0x61], of: .commit) == "a")
    // A document in an update names it one level below.
    let name = Array("projects/p/databases/games/documents/a/b".utf8)
    let inner = [0x0a, UInt8(name.count)] + name
    #expect(
      DocumentRequest.databaseName(in: [0x0a, UInt8(inner.count)] + inner, of: .updateDocument)
        == "projects/p/databases/games")
  }

  @Test("each call goes where its database is, and its answers come from there alone")
  func calls() throws {
    let directory = try Self.directory()
    var calls = ShardedCalls()
    let get = DocumentRequest.Body.get(try DocumentKey("a/b"), mask: nil, .now)
    let here = Self.call(1, .getDocument, try Self.message(get, in: "p/main"))
    #expect(Self.places(calls.route(here, by: directory)) == [.here])
    let one = Self.call(2, .getDocument, try Self.message(get, in: "p/games"))
    #expect(Self.places(calls.route(one, by: directory)) == [.node(1)])
    let two = Self.call(3, .getDocument, try Self.message(get, in: "q/main"))
    #expect(Self.places(calls.route(two, by: directory)) == [.node(2)])
    #expect(calls.uses(1) && calls.uses(2) && !calls.uses(0))
    // A commit may name its database in its writes alone.
    let whole = try Self.message(
      .commit([.delete(try DocumentKey("a/b"))], transaction: [], nil), in: "p/games")
    let bare = Self.withoutFirstField(whole)
    #expect(DocumentRequest.databaseName(in: bare, of: .commit) == nil)
    #expect(Self.places(calls.route(Self.call(5, .commit, bare), by: directory)) == [.node(1)])
    let ended = DocumentServerFrame.end(stream: 5, nil).encode()
    #expect(calls.receives(ended, from: 1) == true)
    // What names no database is refused here, in the words of the service.
    #expect(Self.places(calls.route(Self.call(6, .commit, [9]), by: directory)) == [.here])
    #expect(Self.places(calls.route([255], by: directory)) == [.here])
    let ping = DocumentClientFrame.ping.encode()
    #expect(Self.places(calls.route(ping, by: directory)) == [.here])
    let answer = { DocumentServerFrame.answer(stream: $0, [1]).encode() }
    let message = DocumentServerFrame.message(stream: 2, [1]).encode()
    let received = [
      (answer(2), 2), (answer(1), 1), (DocumentServerFrame.pong.encode(), 1), (message, 1),
      (answer(2), 1), (answer(2), 1),
    ].map { frame, shard in calls.receives(frame, from: UInt32(shard)) }
    #expect(received == [false, false, false, true, true, false])
    #expect(!calls.uses(1))
    // The calls of a node that is lost end, and no others.
    let lost = calls.lose(2, "gone").compactMap { frame -> UInt32? in
      guard case .end(let call, let status?)? = try? DocumentServerFrame.decode(frame),
        status.code == .unavailable
      else { return nil }
      return call
    }
    #expect(lost == [3])
    #expect(calls.lose(2, "gone") == [])
  }

  @Test("a call waits for the message that names its database, and later calls behind it")
  func later() throws {
    let directory = try Self.directory()
    var calls = ShardedCalls()
    let query = DocumentRequest.Body.query(
      .collection(try CollectionPath("cities")), .now)
    let opening = Self.call(1, .listen, nil)
    #expect(calls.route(opening, by: directory) == [])
    let second = Self.call(2, .runQuery, try Self.message(query, in: "p/main"))
    #expect(calls.route(second, by: directory) == [])
    let message = DocumentClientFrame.message(
      stream: 1, try Self.message(query, in: "p/games")
    ).encode()
    #expect(
      calls.route(message, by: directory) == [
        ShardedFrame(opening, .node(1)), ShardedFrame(message, .node(1)),
        ShardedFrame(second, .here),
      ])
    let half = DocumentClientFrame.halfClose(stream: 1).encode()
    #expect(Self.places(calls.route(half, by: directory)) == [.node(1)])
    let cancel = DocumentClientFrame.cancel(stream: 1).encode()
    #expect(Self.places(calls.route(cancel, by: directory)) == [.node(1)])
    #expect(Self.places(calls.route(cancel, by: directory)) == [.here])
    // One that ends before it says what it is about is decided here.
    let third = Self.call(3, .write, nil)
    #expect(calls.route(third, by: directory) == [])
    let end = DocumentClientFrame.cancel(stream: 3).encode()
    #expect(Self.places(calls.route(end, by: directory)) == [.here, .here])
    // So many wait, and so many bytes, and no more.
    var large = ShardedCalls()
    #expect(large.route(Self.call(1, .write, nil), by: directory) == [])
    let first = Self.call(
      2, .commit, [UInt8](repeating: 0, count: ForwardedCallLimits.heldBytes / 2))
    #expect(large.route(first, by: directory) == [])
    let more = Self.call(
      3, .commit, [UInt8](repeating: 0, count: ForwardedCallLimits.heldBytes / 2))
    #expect(Self.places(large.route(more, by: directory)) == [.refused])
    #expect(calls.route(Self.call(4, .write, nil), by: directory) == [])
    for number in 5..<UInt32(5 + ForwardedCallLimits.heldFrames) {
      #expect(calls.route(Self.call(number, .listen, nil), by: directory) == [])
    }
    #expect(Self.places(calls.route(Self.call(900, .listen, nil), by: directory)) == [.refused])
  }

  @Test("a client of the tree goes as a whole where its database is")
  func trees() throws {
    let directory = try Self.directory()
    let put = TreeClientMessage.request(1, .put("a", 1, expectedHash: nil, .none)).encode()
    for (name, place) in [("games", FramePlace<UInt32>.node(1)), ("default", .here)] {
      let link = ShardedLink(number: 1)
      let opening = TreeClientMessage.open(TreeOpening(namespace: name)).encode()
      #expect(link.route(opening, by: directory) == [ShardedFrame(opening, place)])
      #expect(link.route(put, by: directory) == [ShardedFrame(put, place)])
      #expect(link.receives(put, from: 1) == (place == .node(1)) && !link.receives(put, from: 2))
      #expect(link.lose(1, "gone") == nil && link.keepAlive == TreeRoutes.keepAlive)
    }
    // What comes before an opening decides nothing, and an opening is short.
    let link = ShardedLink(number: 1)
    let early = [TreeClientMessage.keepAlive.encode(), put, [1, 2]]
    for frame in early {
      #expect(link.route(frame, by: directory) == [ShardedFrame(frame, .here)])
    }
    let late = TreeClientMessage.open(TreeOpening(namespace: "games")).encode()
    let padded = late.dropLast() + [UInt8](repeating: 32, count: 1 << 17) + [late.last ?? 0]
    #expect(Self.places(link.route(Array(padded), by: directory)) == [.refused])
    #expect(!link.uses(1))
    #expect(link.route(late, by: directory) == [ShardedFrame(late, .node(1))])
    #expect(link.route(put, by: directory) == [ShardedFrame(put, .node(1))])
    #expect(link.uses(1))
  }
}
