import TernCore
import TernQuery
import TernSecurity
import TernTreeWire
import Testing

@testable import TernServer

@Suite("Turns") struct FairQueueTests {
  private func frame(_ slot: Int, _ number: Int) -> ServerInput {
    .frame(slot: slot, [UInt8(number & 0xFF)])
  }

  private func slots(_ inputs: [ServerInput]) -> [Int] {
    inputs.map { input in
      if case .frame(let slot, _) = input { return slot }
      return -1
    }
  }

  @Test("a client that floods keeps no other from the next batch")
  func flood() {
    var inbox = FairQueue()
    for number in 0..<100_000 { inbox.append(frame(0, number)) }
    for slot in 1...20 { inbox.append(frame(slot, 0)) }
    inbox.append(.tick)
    let batch = inbox.take(256)
    #expect(Set(slots(batch)) == Set(-1...20), "everybody had a turn")
    #expect(slots(batch).firstIndex(of: 20) ?? .max <= 8 + 20, "after one turn of the flood")
    #expect(batch.count == 256, "what is left of the batch is the flood's")
    #expect(inbox.count == 100_021 - 256)
  }

  @Test("what waits of a link is counted, whatever was taken and put back")
  func counts() {
    var inbox = FairQueue()
    for number in 0..<10_000 { inbox.append(frame(7, number)) }
    #expect(inbox.count(of: 7) == 10_000 && inbox.count(of: 3) == 0 && inbox.count(of: 900) == 0)
    var numbers: [Int] = []
    while inbox.count(of: 7) > 0 {
      let batch = inbox.take(256)
      let (decided, deferred) = (batch.prefix(200), batch.dropFirst(200))
      for case .frame(_, let bytes) in decided { numbers.append(Int(bytes[0])) }
      inbox.putBack(Array(deferred))
    }
    #expect(numbers == (0..<10_000).map { $0 & 0xFF })
    #expect(inbox.isEmpty)
  }

  @Test("two that flood share what there is")
  func shares() {
    var inbox = FairQueue()
    for number in 0..<1_000 { for slot in [3, 5] { inbox.append(frame(slot, number)) } }
    let taken = slots(inbox.take(256))
    #expect(taken.count { $0 == 3 } == 128)
  }

  private func opened(_ slot: Int, _ address: String) -> ServerInput {
    .opened(slot: slot, isLocal: false, address: address)
  }

  @Test("an address with many links has no more turns than one with one link")
  func addresses() {
    var inbox = FairQueue()
    for slot in 0..<50 { inbox.append(opened(slot, "a")) }
    inbox.append(opened(50, "b"))
    #expect(inbox.take(1_000).count == 51)
    for number in 0..<1_000 { for slot in 0...50 { inbox.append(frame(slot, number)) } }
    let taken = slots(inbox.take(256))
    let single = taken.count { $0 == 50 } + 1
    let many = taken.count { $0 != 50 } + 50
    #expect(abs(single - many) <= FairQueue.turn, "with the openings that were taken before")
    #expect(Set(taken).count > 10, "links of one address have turns as well")
  }

  /// Takes one input, and charges its cost as the server does, after the turn.
  private func decide(_ inbox: inout FairQueue, cost: (Int) -> Int) -> Int? {
    let inputs = inbox.take(1)
    guard let slot = slots(inputs).first else { return nil }
    inbox.charge(inputs.map { InputCost(origin: $0.origin, steps: cost(slot)) })
    return slot
  }

  @Test("a client with small requests is served before 50 clients with costly ones")
  func costs() {
    var inbox = FairQueue()
    func cost(_ slot: Int) -> Int { slot == 50 ? 20 : 5_000 }
    for slot in 0...50 { inbox.append(opened(slot, slot == 50 ? "modest" : "costly \(slot)")) }
    _ = inbox.take(1_000)
    for slot in 0..<50 { for number in 0..<100 { inbox.append(frame(slot, number)) } }
    // All are new. Whatever the order of the first round, each is charged once.
    inbox.append(frame(50, 0))
    var first = (0...50).map { _ in decide(&inbox, cost: cost) }
    #expect(first.count { $0 == 50 } == 1)
    for round in 0..<500 {
      let costly = decide(&inbox, cost: cost)
      #expect(costly != 50, "in round \(round)")
      first.append(costly)
      for request in 0..<3 {
        inbox.append(frame(50, request))
        #expect(decide(&inbox, cost: cost) == 50, "request \(request) of round \(round)")
      }
    }
    let shares = (0..<50).map { slot in first.count { $0 == slot } }
    #expect(shares.allSatisfy { $0 == 11 }, "those with costly requests have equal shares")
  }

  @Test("a new client waits for one turn at most of each that waited before it")
  func newClient() {
    var inbox = FairQueue()
    for slot in 0..<50 { inbox.append(opened(slot, "address \(slot)")) }
    _ = inbox.take(50)
    for slot in 0..<50 { for number in 0..<100 { inbox.append(frame(slot, number)) } }
    for _ in 0..<1_234 { _ = decide(&inbox) { _ in 5_000 } }
    inbox.append(opened(50, "new"))
    inbox.append(frame(50, 0))
    let next = (0..<51).map { _ in decide(&inbox) { _ in 5_000 } }
    #expect(next.contains(-1), "its opening")
    let before = next.prefix { $0 != -1 }
    #expect(Set(before).count == before.count)
  }

  @Test("a client that returns has a credit that is bounded")
  func credit() {
    var inbox = FairQueue()
    for slot in 0...2 { inbox.append(opened(slot, "address \(slot)")) }
    _ = inbox.take(3)
    for slot in 0..<2 { for number in 0..<1_000 { inbox.append(frame(slot, number)) } }
    for _ in 0..<1_000 { _ = decide(&inbox) { _ in 5_000 } }
    for number in 0..<1_000 { inbox.append(frame(2, number)) }
    let next = (0..<100).map { _ in decide(&inbox) { _ in 5_000 } }
    #expect(next.prefix { $0 == 2 }.count <= Int(TurnOrder<Int>.creditLimit) / 5_000 + 2)
    #expect(next.count { $0 == 2 } <= 33 + Int(TurnOrder<Int>.creditLimit) / 5_000)
  }

  @Test("inputs that are put back cost their link and address nothing")
  func putBack() {
    var inbox = FairQueue()
    for slot in 0...1 { inbox.append(opened(slot, "a")) }
    inbox.append(opened(2, "b"))
    _ = inbox.take(3)
    for slot in 0...2 { for number in 0..<20 { inbox.append(frame(slot, number)) } }
    for _ in 0..<10 { inbox.putBack(inbox.take(30)) }
    #expect(inbox.count == 60)
    let taken = slots(inbox.take(32))
    #expect((0...2).map { slot in taken.count { $0 == slot } } == [8, 8, 16])
  }

  @Test("requests without a session take part by their addresses, each in order")
  func requests() throws {
    func request(_ number: Int, _ address: String) throws -> ServerInput {
      let path = try TreePath("n\(number)")
      return .direct(
        ticket: UInt64(number),
        DirectRequest(namespace: "n", isLocal: false, address: address, .read(path, .all)))
    }
    var inbox = FairQueue()
    for number in 0..<1_000 { inbox.append(try request(number, "flood")) }
    for number in 1_000..<1_010 { inbox.append(try request(number, "modest")) }
    let tickets = inbox.take(64).map { input in
      if case .direct(let ticket, _) = input { ticket } else { UInt64.max }
    }
    #expect(tickets.filter { $0 >= 1_000 } == Array(1_000..<1_010))
    #expect(tickets.filter { $0 < 1_000 } == Array(0..<54))
  }

  @Test("nothing is lost, and each link keeps its order", arguments: [1, 7, 64, 256, 5_000])
  func order(limit: Int) {
    var inbox = FairQueue()
    var sent: [Int: [UInt8]] = [:]
    var got: [Int: [UInt8]] = [:]
    var state: UInt64 = 42
    func draw(_ count: UInt64) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % count)
    }
    func takeSome() {
      for case .frame(let slot, let bytes) in inbox.take(limit) { got[slot, default: []] += bytes }
    }
    for number in 0..<4_000 {
      let slot = draw(5) == 0 ? draw(40) : 0
      inbox.append(frame(slot, number))
      sent[slot, default: []].append(UInt8(number & 0xFF))
      if draw(50) == 0 { takeSome() }
    }
    while !inbox.isEmpty { takeSome() }
    #expect(got == sent)
    #expect(inbox.take(limit).isEmpty)
  }
}

@Suite("Order of turns") struct TurnOrderTests {
  private struct Dice {
    var state: UInt64 = 7

    mutating func draw(_ count: UInt64) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % count)
    }
  }

  @Test("keys that wait all the time differ by no more than a turn of each, whatever turns cost")
  func equalShares() {
    var turns = TurnOrder<Int>()
    var dice = Dice()
    var costs = Array(repeating: 0, count: 9)
    for key in costs.indices { turns.enqueue(key) }
    for _ in 0..<20_000 {
      turns.beginRound()
      guard let key = turns.next() else { break }
      // It waits again before it is known what its turn has cost.
      turns.enqueue(key)
      let cost = 1 + dice.draw(UInt64(1 + 100 * key))
      turns.charge(key, cost)
      costs[key] += cost
      #expect(costs.max() ?? 0 <= (costs.min() ?? 0) + 2 * 901)
    }
  }

  @Test("every key that waits has its turn, though others come and go with smaller costs")
  func noStarvation() {
    var turns = TurnOrder<Int>()
    var dice = Dice()
    turns.enqueue(-1)
    turns.beginRound()
    _ = turns.next()
    turns.charge(-1, 100_000)
    turns.enqueue(-1)
    var count = 0
    for key in 0..<20 { turns.enqueue(key) }
    while count < 100_000 {
      count += 1
      turns.beginRound()
      guard let key = turns.next(), key != -1 else { break }
      turns.charge(key, 100 + dice.draw(200))
      turns.enqueue(key)
    }
    #expect(count <= 20 * 100_000 / 100)
  }

  @Test("keys that wait are never forgotten, and the others are bounded")
  func forgetting() {
    var turns = TurnOrder<Int>()
    for key in 0..<6_000 {
      turns.enqueue(key)
      turns.charge(key, 10)
    }
    for key in 1...50_000 {
      turns.enqueue(-key)
      #expect(turns.next() == -key)
      #expect(turns.knownCount <= 2 * 6_000 + TurnOrder<Int>.knownLimit)
    }
    var waiting: Set<Int> = []
    while let key = turns.next() { waiting.insert(key) }
    #expect(waiting == Set(0..<6_000))
  }
}

@Suite("Rates") struct RateTests {
  private let limits = RateLimits(requestsPerAddress: 10, requestsPerIdentity: 2, burstSeconds: 3)

  @Test("a burst may be spent at once; then comes what comes with time")
  func bucket() {
    var bucket = TokenBucket(perSecond: 10, burstSeconds: 3, at: 0)
    for _ in 0..<30 { #expect(bucket.take(perSecond: 10, burstSeconds: 3, at: 0) == nil) }
    #expect(bucket.take(perSecond: 10, burstSeconds: 3, at: 0) == 100)
    #expect(bucket.take(perSecond: 10, burstSeconds: 3, at: 99) == 1)
    #expect(bucket.take(perSecond: 10, burstSeconds: 3, at: 100) == nil)
    #expect(bucket.take(perSecond: 10, burstSeconds: 3, at: 50) == 100, "time does not go back")
    var taken = 0
    while bucket.take(perSecond: 10, burstSeconds: 3, at: 1_000_000) == nil { taken += 1 }
    #expect(taken == 30, "no more than a burst is kept")
  }

  @Test("addresses and users are counted apart from each other")
  func table() {
    var table = RateTable(limits)
    func ask(_ address: String, _ user: String?, at time: Int64 = 0) -> RateExcess? {
      table.count(address: address, user: user, in: "n", at: time)
    }
    for _ in 0..<6 { #expect(ask("a", "ann") == nil) }
    #expect(ask("b", "ann")?.isOfAddress == false, "wherever she is")
    #expect(ask("a", "ben") == nil)
    for _ in 0..<23 { #expect(ask("a", nil) == nil) }
    let excess = ask("a", nil)
    #expect(excess?.isOfAddress == true)
    #expect(
      excess?.text
        == "Too many requests: one address may make 10 a second. Try again in 100 ms.")
    #expect(ask("c", nil) == nil)
    #expect(ask("a", "ann", at: 1_000) == nil)
  }

  @Test("what is remembered is bounded, and quiet ones go first")
  func bounded() {
    var table = RateTable(RateLimits(requestsPerAddress: 1, burstSeconds: 1))
    for index in 0..<(RateLimits.mostKnown + 100) {
      _ = table.count(address: "\(index)", user: nil, in: "n", at: Int64(index))
    }
    #expect(table.count <= RateLimits.mostKnown)
    let last = "\(RateLimits.mostKnown + 99)"
    let now = Int64(RateLimits.mostKnown + 99)
    #expect(table.count(address: last, user: nil, in: "n", at: now) != nil, "not forgotten")
  }

  @Test("a session above the rate is rejected, and a rejected write can be sent again")
  func sessions() throws {
    let options = ServerOptions(
      limits: ServerLimits(rates: RateLimits(requestsPerAddress: 2, burstSeconds: 1)))
    let bench = try MachineBench(options: options)
    try bench.open(1, stream: 7)
    try bench.open(2, stream: 8)
    func write(_ number: UInt64) throws -> TreeRequest {
      try bench.put("a", json("1"), WriteHeader(WriteIdempotencyKey(sequence: number)))
    }
    let told = try bench.ask(1, write(1), write(2), write(3))
    #expect(told.map(\.brief) == ["ok", "ok", "unavailable"])
    #expect(told.last?.response?.detail.hasPrefix("Too many requests: one address") == true)
    bench.uptime += 500
    #expect(try bench.ask(1, write(3)).map(\.brief) == ["ok"])
    #expect(bench.closed.isEmpty)
  }

  @Test("requests without a session are counted by their address")
  func directRequests() throws {
    let options = ServerOptions(
      limits: ServerLimits(rates: RateLimits(requestsPerAddress: 3, burstSeconds: 1)))
    let bench = try MachineBench(options: options)
    func ask(_ address: String) throws -> DirectAnswer? {
      let request = DirectRequest(
        namespace: "n", isLocal: true, address: address, .read("a", .all))
      try bench.run([.direct(ticket: 1, request)])
      return bench.answers.removeValue(forKey: 1)
    }
    for _ in 0..<3 { #expect(try ask("192.0.2.1") == .node(.empty)) }
    guard case .refused(.tooMany(let excess))? = try ask("192.0.2.1") else {
      Issue.record("the fourth was answered")
      return
    }
    #expect(excess.isOfAddress)
    #expect(try ask("192.0.2.2") == .node(.empty))
  }

  @Test("requests for a database that is not in the list are rejected")
  func listedDatabases() throws {
    var limits = ServerLimits()
    limits.databases = ["n"]
    let bench = try MachineBench(options: ServerOptions(limits: limits))
    func ask(_ namespace: String) throws -> DirectAnswer? {
      let request = DirectRequest(
        namespace: namespace, isLocal: true, address: "192.0.2.1", .read("a", .all))
      try bench.run([.direct(ticket: 1, request)])
      return bench.answers.removeValue(forKey: 1)
    }
    #expect(try ask("n") == .node(.empty))
    guard case .refused? = try ask("other") else {
      Issue.record("a database outside of the list was read")
      return
    }
  }

  @Test(
    "connections from one place count as one",
    arguments: [
      ("127.0.0.1:50412", "127.0.0.1"), ("[::1]:50412", "[::1]"), ("loopback#3", "loopback"),
      ("remote 192.0.2.7:1 for https://x.example:443", "192.0.2.7"), ("unknown", "unknown"),
    ])
  func addresses(peer: String, address: String) {
    #expect(PeerAddress.address(of: peer) == address)
  }
}
