import TernKit
import TernLedger
import TernSecurity
import TernServer
import TernStorageMemory
import Testing

@Suite("A database with several addresses", .timeLimit(.minutes(2)))
struct SeveralAddressTests {
  /// One server, and the transports that it listens on.
  private struct Cluster {
    let first: TCPTransport
    let second: TCPTransport
    let ports: [Int]
    private let server: TernServer

    init() async throws {
      let ledger = try EmbeddedLedger(
        store: MemoryStore(), uptime: RuntimeEnvironment.system.stopwatch())
      first = try TCPTransport(TCPOptions(port: 0))
      second = try TCPTransport(TCPOptions(port: 0))
      server = try await TernServer(ledger: ledger, on: first, authorizer: AllowLocal())
      var ports: [Int] = []
      for transport in [first, second] {
        let address = try await server.listen(on: transport)
        ports.append(Int(address.split(separator: ":").last ?? "") ?? 0)
      }
      self.ports = ports
    }
  }

  private func open(
    _ ports: [Int], report: @escaping @Sendable (ClientNotice) -> Void = { _ in }
  ) async throws -> TernDatabase {
    var options = TernOptions()
    options.storage = .memory
    options.report = report
    let server = ports.map { "127.0.0.1:\($0)" }.joined(separator: ", ")
    return try await TernDatabase.open("", server: server, options)
  }

  @Test("when its first address is dead the second one serves it, without a pause")
  func deadFirst() async throws {
    let cluster = try await Cluster()
    let (notices, notice) = AsyncStream<ClientNotice>.makeStream()
    let tern = try await open([1, cluster.ports[1]]) { notice.yield($0) }
    let states = Task {
      var seen: [ConnectionState] = []
      for await state in tern.tree.connection {
        seen.append(state)
        if state == .online || state == .waiting { break }
      }
      return seen
    }
    try await tern.tree["rooms/1"].set("Hi").acknowledged()
    try await tern.documents.document("rooms/1").set(["n": 1]).acknowledged()
    #expect(await states.value.last == .online)
    var told = notices.makeAsyncIterator()
    #expect(await told.next() == .notConnected(.refused(host: "127.0.0.1", port: 1)))
    await tern.close()
    await cluster.first.shutdown()
    await cluster.second.shutdown()
  }

  @Test("a client whose server ends goes on at the next address, and nothing is made twice")
  func moves() async throws {
    let cluster = try await Cluster()
    let tern = try await open(cluster.ports.reversed())
    let place = tern.tree["count"]
    let document = tern.documents.document("rooms/1")
    try await place.increment(by: 1).acknowledged()
    try await document.set(["n": .increment(1)], merging: true).acknowledged()
    var views = place.values().makeAsyncIterator()
    #expect(try await views.next()?.number == 1)
    let waiting = try await place.increment(by: 1)
    await cluster.second.shutdown()
    try await waiting.acknowledged()
    try await place.increment(by: 1).acknowledged()
    try await document.set(["n": .increment(1)], merging: true).acknowledged()
    while let view = try await views.next(), view.number != 3 {}
    #expect(try await place.get().number == 3)
    #expect(try await document.get(from: .server)["n"] == 2)
    await tern.close()
    await cluster.first.shutdown()
  }

  @Test(
    "a list that no transport can reach is an error that names the address",
    arguments: [
      ("a,b:x", #""b:x" is no address of a server: the port is a number in 1...65535, not "x""#),
      ("a,,b", "\"\" is no address of a server: it names no host"),
      ("a,ws://b", #""ws://b:80" is no address of a server: its scheme is not that of a:9000"#),
      (
        "ws://a/x,ws://b",
        #""ws://b:80" is no address of a server: its path is not that of ws://a:80/x"#
      ),
      ("a,b,a:9000", "transport option host: a:9000 is named twice"),
    ])
  func mistakes(text: String, words: String) async throws {
    var options = TernOptions()
    options.storage = .memory
    let error = await #expect(throws: OpenError.self) {
      try await TernDatabase.open("", server: text, options)
    }
    #expect(error?.description == words)
    options.servers = []
    let none = await #expect(throws: OpenError.self) {
      try await TernDatabase.open("", options)
    }
    #expect(none?.description == "the option servers: it names no server")
  }
}
