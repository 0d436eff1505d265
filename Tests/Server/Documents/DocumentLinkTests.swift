import TernCore
import TernDocumentWire
import TernQuery
import TernTestKit
import TernTreeWire
import Testing

@testable import TernServer

@Suite("Links about documents")
struct DocumentLinkTests {
  @Test("the first frame tells the dialect")
  func dialects() throws {
    let bench = try DocumentBench()
    try bench.link(1)
    try bench.send(1, .ping)
    #expect(bench.take(1) == [.pong])
    // The tree's frames are no frames here.
    try bench.run([.frame(slot: 1, TreeClientMessage.ping.encode())])
    #expect(bench.closed[1] == .malformedFrame("a frame is malformed"))
    let tree = try MachineBench(store: bench.store)
    try tree.open(1)
    try tree.run([.frame(slot: 1, DocumentClientFrame.ping.encode())])
    #expect(tree.closed[1] != nil)
  }

  @Test("both models live in one store and one log")
  func together() throws {
    let bench = try DocumentBench()
    try bench.link(1)
    _ = try bench.ask(1, 1, .commit([bench.set("a/b", ["x": 1])], transaction: [], nil)).get()
    let tree = try MachineBench(store: bench.store)
    try tree.open(1)
    #expect(try tree.response(1, tree.put("a", json("1")))?.version == 2)
    let after = try DocumentBench(store: bench.store)
    try after.link(1)
    _ = try after.ask(1, 1, .get("a/b", mask: nil, .now)).get()
  }

  @Test("calls that cannot be are refused, and the link goes on")
  func refusals() throws {
    var options = ServerOptions()
    options.limits.documentCalls = 2
    let bench = try DocumentBench(options: options)
    try bench.link(1)
    let strange = DocumentCallOpening(method: "Dance", metadata: [], message: nil)
    try bench.send(1, .open(stream: 1, strange))
    #expect(bench.end(1, 1)??.code == .unimplemented)
    try bench.send(1, .open(stream: 2, DocumentCallOpening(.commit, message: [0xFF])))
    #expect(bench.end(1, 2)??.code == .invalidArgument)
    try bench.send(1, .open(stream: 3, DocumentCallOpening(.commit)), .halfClose(stream: 3))
    #expect(bench.end(1, 3)??.code == .invalidArgument)
    for call in UInt32(4)...6 {
      try bench.send(1, .open(stream: call, DocumentCallOpening(.listen)))
    }
    #expect(bench.end(1, 6)??.code == .resourceExhausted)
    try bench.send(1, .open(stream: 5, DocumentCallOpening(.listen)))
    #expect(bench.closed[1] == .outOfTurn("call 5 after 6"))
  }

  @Test("a silent link is let go without a word")
  func silence() throws {
    let bench = try DocumentBench()
    try bench.link(1)
    try bench.send(1, .ping)
    _ = bench.take(1)
    bench.uptime += 61_000
    try bench.run([.tick])
    #expect(bench.closed[1] == .silent(.seconds(60)))
    #expect(bench.take(1).isEmpty)
  }

  @Test("damaged frames end links or calls, and nothing else", arguments: UInt64(1)...20)
  func hostile(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let bench = try DocumentBench()
    let query = DocumentQuery.collection(try CollectionPath("c"))
    let requests: [DocumentRequest.Body] = [
      .commit([bench.set("c/a", ["n": 1])], transaction: [], nil), .query(query, .now),
      .listen(.add(WatchTarget(id: 2, subject: .query(query.target)))),
      .write(DocumentWriteRequest(.handshake(stream: 3))),
      .write(
        DocumentWriteRequest(.writes([bench.set("c/b", [:])], .init(sequence: 1)), token: [1])),
    ]
    var slot = 0
    try bench.link(0)
    for call in UInt32(1)...200 {
      let body = requests[Int.random(in: requests.indices, using: &random)]
      let request = DocumentRequest(body, in: benchDatabase)
      let opening = DocumentCallOpening(request.method, message: request.encode())
      var frame = DocumentClientFrame.open(stream: call, opening).encode()
      if Bool.random(using: &random) {
        let index = Int.random(in: frame.indices, using: &random)
        frame[index] = UInt8.random(in: 0...255, using: &random)
      }
      try bench.runUnread([.frame(slot: slot, frame)])
      if bench.closed[slot] != nil {
        try bench.run([.closed(slot: slot)])
        slot += 1
        try bench.link(slot)
      }
    }
    // Whatever came before, a sound request is served.
    try bench.link(1_000)
    _ = try bench.ask(1_000, 1, .query(query, .now)).get()
  }
}
