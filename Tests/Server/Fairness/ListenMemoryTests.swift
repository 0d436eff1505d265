import TernCore
import TernDocumentWire
import TernQuery
import TernSecurity
import TernTransport
import TernTreeWire
import Testing

@testable import TernServer

/// Takes any token for the name of its user.
struct NamedByToken: Authenticator {
  func authenticate(
    _ credential: Credential, now: Int64
  ) throws(AuthenticationError) -> Authentication {
    Authentication(.user(id: credential.token, claims: .object([])))
  }
}

/// Tests that listens count against the memory budget of their address and user.
@Suite("Memory of listens") struct ListenMemoryTests {
  private func options(
    address: Int? = 1 << 20, identity: Int? = nil
  ) -> ServerOptions {
    ServerOptions(
      limits: ServerLimits(
        memoryBytes: 64 << 20, memoryBytesPerAddress: address, memoryBytesPerIdentity: identity))
  }

  private func listens(_ bench: MachineBench) -> Int { bench.budget.usedBytes(for: .listens) }

  @Test("an address listens until it holds its share, and again when it has ended some")
  func addresses() throws {
    let bench = try MachineBench(options: options())
    try bench.open(1)
    var count = 0
    while try bench.response(1, bench.listen("a/p\(count)"))?.status == .ok, count < 5_000 {
      count += 1
    }
    #expect((500..<2_000).contains(count), "a listen takes about a KiB")
    #expect(listens(bench) <= 1 << 20)
    let refused = try bench.response(1, bench.listen("a/more"))
    #expect(refused?.status == .failed)
    #expect(refused?.detail.contains("share of the server's memory") == true)
    for path in 0..<10 { try bench.ask(1, .unlisten(try TreePath("a/p\(path)"), .all, tag: nil)) }
    #expect(try bench.response(1, bench.listen("a/more"))?.status == .ok)
    let held = listens(bench)
    #expect(try bench.response(1, bench.listen("a/more"))?.status == .ok)
    #expect(listens(bench) == held, "the same listen is charged once")
    try bench.run([.closed(slot: 1)])
    #expect(listens(bench) == 0)
  }

  @Test("a listen that finds the memory of all clients in use is rejected for the moment")
  func budget() throws {
    let bench = try MachineBench(options: options())
    try bench.open(1)
    bench.budget.count(64 << 20, .waiting, to: "198.51.100.1")
    #expect(try bench.response(1, bench.listen("a"))?.status == .unavailable)
    bench.budget.release(64 << 20, .waiting, of: "198.51.100.1")
    #expect(try bench.response(1, bench.listen("a"))?.status == .ok)
  }

  @Test("the window of a filtered listen is charged with what it keeps")
  func windows() throws {
    let bench = try MachineBench(options: options())
    try bench.open(1)
    try bench.ask(1, bench.put("a", manyChildren(4_000)))
    let few = try TreeQuery.all.ordered(by: .key).first(10)
    let all = try TreeQuery.all.ordered(by: .key).starting(at: .string("k"))
    #expect(try bench.response(1, bench.listen("a", few, tag: 1))?.status == .ok)
    let held = listens(bench)
    #expect(held > 5_000)
    #expect(try bench.response(1, bench.listen("a", all, tag: 2))?.status == .failed)
    #expect(listens(bench) == held)
    try bench.ask(1, .unlisten("a", few, tag: 1))
    #expect(listens(bench) == 0)
  }

  @Test("a user has one share at all addresses")
  func users() throws {
    let bench = try MachineBench(
      options: options(address: 8 << 20, identity: 1 << 20), authenticator: NamedByToken())
    var count = 0
    for slot in 1...8 {
      try bench.run([.opened(slot: slot, isLocal: false, address: "192.0.2.\(slot)")])
      let opening = TreeClientMessage.open(TreeOpening(namespace: "n"))
      try bench.run([.frame(slot: slot, opening.encode())])
      try bench.ask(slot, .auth(TreeCredential(.user, token: "ann")))
      for path in 0..<400 {
        let status = try bench.response(slot, bench.listen("a/\(slot)/\(path)"))?.status
        if status == .ok { count += 1 }
      }
    }
    #expect((500..<2_000).contains(count), "of 3,200 that the addresses could hold")
    #expect(bench.budget.usedBytes(ofUser: "ann") <= 1 << 20)
    #expect(try bench.response(8, .auth(TreeCredential(.user, token: "ben")))?.status == .ok)
    #expect(try bench.response(8, bench.listen("b"))?.status == .ok, "ben has a share of his own")
    try bench.run((1...8).map { .closed(slot: $0) })
    #expect(bench.budget.usedBytes(ofUser: "ann") == 0)
    #expect(bench.budget.usedBytes(ofUser: "ben") == 0)
    #expect(listens(bench) == 0)
  }

  @Test("targets of documents are charged, and released with their call")
  func targets() throws {
    let bench = try DocumentBench(options: options())
    try bench.link(1)
    var refused = 0
    for call in UInt32(1)...3 {
      let targets = (Int32(1)...900).map { id in
        WatchTarget(id: id, subject: .documents([DocumentKey(unchecked: "c/d\(call)x\(id)")]))
      }
      for change in try bench.listenAll(1, call, targets) where change.brief.hasPrefix("refuse") {
        refused += 1
      }
    }
    #expect((900..<2_400).contains(refused))
    #expect(bench.budget.usedBytes(for: .listens) <= 1 << 20)
    try bench.send(1, .cancel(stream: 1), .cancel(stream: 2), .cancel(stream: 3))
    #expect(bench.budget.usedBytes(for: .listens) == 0)
  }

  @Test("a message about documents is weighed before it is read")
  func heavyMessages() throws {
    let bench = try DocumentBench(options: options())
    try bench.link(1)
    let small = DocumentFields(["a": .string(String(repeating: "x", count: 10_000))])
    let large = DocumentFields(["a": .string(String(repeating: "x", count: 100_000))])
    #expect(try bench.status(1, 1, .commit([bench.set("c/a", small)], transaction: [], nil)) == nil)
    let status = try bench.status(1, 2, .commit([bench.set("c/b", large)], transaction: [], nil))
    #expect(status?.code == .resourceExhausted)
    #expect(status?.message.contains("bytes of memory to read") == true)
    bench.budget.count(600 << 10, .waiting, to: "")
    let middling = DocumentFields(["a": .string(String(repeating: "x", count: 30_000))])
    let commit = DocumentRequest.Body.commit([bench.set("c/b", middling)], transaction: [], nil)
    #expect(try bench.status(1, 3, commit)?.code == .unavailable)
    bench.budget.release(600 << 10, .waiting, of: "")
    #expect(try bench.status(1, 4, commit) == nil)
    #expect(bench.budget.usedBytes == 0)
  }
}

extension DocumentBench {
  /// Opens a listen stream with targets and returns what is told.
  fileprivate func listenAll(
    _ slot: Int, _ call: UInt32, _ targets: [WatchTarget]
  ) throws -> [WatchChange] {
    _ = try listen(slot, call)
    for target in targets { try say(slot, call, .listen(.add(target))) }
    return changes(slot, call)
  }

  /// Makes one call and returns the status of its end; `nil` for success.
  fileprivate func status(
    _ slot: Int, _ call: UInt32, _ body: DocumentRequest.Body
  ) throws -> DocumentStatus? {
    let message = DocumentRequest(body, in: benchDatabase).encode()
    let opening = DocumentCallOpening(.commit, message: message)
    try run([frame(slot, .open(stream: call, opening))])
    guard let end = end(slot, call) else { throw BenchError.unexpected([]) }
    return end
  }
}
