import TernCore
import TernQuery
import TernSecurity
import TernTreeWire
import Testing

@testable import TernServer

@Suite("Clients that are gone") struct UnreachableTests {
  @Test("what a client asked for before its link ended is not read, and what it wrote is stored")
  func requests() throws {
    let rules = try TreeRules(#"{"rules": {".read": true, ".write": true}}"#)
    let secret = HiddenWorld.Secret(name: "much", node: manyChildren(300), documents: [])
    let requests: [TreeRequest] = [
      .get("hidden", .all), .listen(TreeListen(path: "hidden", query: .all)),
      .put("public/seed", 2, expectedHash: nil, .none),
    ]
    let inputs = requests.enumerated().map { index, request in
      ServerInput.frame(slot: 1, TreeClientMessage.request(UInt64(index + 1), request).encode())
    }
    let there = try HiddenWorld(secret, rules)
    #expect(try there.run(inputs).count == 4)
    #expect(there.work.rows >= 300)
    let gone = try HiddenWorld(secret, rules)
    gone.loseLink(1)
    #expect(try gone.run(inputs).count == 1, "the answer to the write, which nobody gets")
    #expect(gone.work.rows < 10)
    #expect(
      try gone.run([.direct(ticket: 2, gone.direct(.read("public/seed", .all)))])
        .contains { $0.contains("2") })
  }
}
