import TernTestKit
import Testing

@testable import TernSync

/// The world around a connection: its links, its timers and whether it is online, as its actions
/// have made them. Every action is checked against what may happen in that state.
private struct ConnectionWorld {
  var link: Int?
  var lastLink = 0
  var address = 0
  var isOnline = false
  var timers: Set<Connection.Timer> = []
  var pings = 0
  var faults: [String] = []

  mutating func perform(_ actions: [Connection.Action]) {
    for action in actions {
      switch action {
      case .openLink(let number, let address):
        expect(link == nil, "a second link is opened")
        expect(number > lastLink, "a link has the number of an earlier one")
        (link, lastLink, self.address) = (number, number, address)
      case .closeLink(let number):
        expect(link == number, "a link is closed that is not the present one")
        link = nil
      case .startTimer(let timer, let duration):
        expect(duration > .zero, "a timer of no duration")
        timers.insert(timer)
      case .stopTimer(let timer): timers.remove(timer)
      case .sendPing:
        expect(isOnline, "a ping without a connection")
        pings += 1
      case .goOnline:
        expect(!isOnline && link != nil, "online twice, or without a link")
        isOnline = true
      case .goOffline:
        expect(isOnline, "offline twice")
        isOnline = false
      }
    }
  }

  mutating func expect(_ holds: Bool, _ fault: String) { if !holds { faults.append(fault) } }

  /// Checks the rules that hold between two events.
  mutating func check(_ connection: Connection) {
    expect(connection.isOnline == isOnline, "it is not online when it says so")
    switch connection.phase {
    case .idle:
      expect(link == nil && timers.isEmpty, "an idle connection has a link or a timer")
      expect(!connection.interruptions.isEmpty, "it is idle without a reason")
    case .waiting:
      expect(link == nil && timers == [.retry], "one that waits has a link, or no timer")
    case .opening(let number), .greeting(let number):
      expect(link == number && timers == [.handshake], "an attempt has no link, or other timers")
    case .online(let number):
      expect(link == number && isOnline, "one that is online has no link")
      expect(timers.isSubset(of: [.probation, .heartbeat]), "it has timers of other phases")
      expect(timers.contains(.heartbeat), "nothing looks for signs of life")
    }
    if connection.phase != .idle {
      expect(connection.interruptions.isEmpty, "it is connected in spite of an interruption")
    }
  }
}

@Suite("Connections under any events")
struct ConnectionModelTests {
  private func event(
    _ world: inout ConnectionWorld, _ random: inout SeededGenerator
  ) -> Connection.Event {
    let reasons: [Connection.Interruption] = [.unused, .requested, .serverShutdown, .closed]
    let reason = reasons[random.roll(reasons.count)]
    // News about links that were given up comes too.
    let link = random.roll(4) == 0 ? random.roll(world.lastLink + 2) : world.link ?? 0
    switch random.roll(14) {
    case 0: return .interrupt(reason)
    case 1...4: return .resume(reason)
    case 5: return .linkOpened(link)
    case 6:
      if world.link == link { world.link = nil }
      return .linkClosed(link, byServer: random.roll(2) == 0)
    case 7, 8: return .greeted(link)
    case 9: return .received(link)
    case 10: return .sent
    case 11: return random.roll(2) == 0 ? .redirected : .failed
    default:
      guard let timer = world.timers.sorted(by: { "\($0)" < "\($1)" }).randomElement(using: &random)
      else { return .timerFired(Connection.Timer.allCases[random.roll(4)]) }
      world.timers.remove(timer)
      return .timerFired(timer)
    }
  }

  @Test("one link, its timers and no more, whatever happens", arguments: UInt64(1)...60)
  func invariants(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let addresses = 1 + random.roll(3)
    var connection = Connection(addressCount: addresses)
    var world = ConnectionWorld()
    for step in 0..<300 {
      let event = event(&world, &random)
      let actions = connection.handle(event) { Double(random.roll(1_000)) / 1_000 }
      world.perform(actions)
      world.check(connection)
      world.expect((0..<addresses).contains(world.address), "an address that there is not")
      guard world.faults.isEmpty else {
        Issue.record("seed \(seed), step \(step), \(event): \(world.faults), \(connection.phase)")
        return
      }
    }
    // Once everything that keeps it from connecting is gone, it comes online.
    for reason in [Connection.Interruption.unused, .requested, .serverShutdown, .closed] {
      world.perform(connection.handle(.resume(reason)) { 0 })
    }
    if connection.phase == .waiting {
      world.timers.remove(.retry)
      world.perform(connection.handle(.timerFired(.retry)) { 0 })
    }
    world.perform(connection.handle(.greeted(world.link ?? 0)) { 0 })
    world.check(connection)
    #expect(world.isOnline && world.faults.isEmpty)
  }

  @Test(
    "delays lie within their schedule, and the longest is never exceeded",
    arguments: [0, 0.5, 0.999])
  func delays(unit: Double) {
    var backoff = Backoff()
    #expect(backoff.next(unit: unit) == .zero, "the first attempt is immediate")
    var full = 1_000.0
    for _ in 0..<40 {
      let delay = backoff.next(unit: unit)
      let drawn = Duration.milliseconds(Int64(full * (0.3 + 0.7 * unit)))
      #expect(drawn - .milliseconds(2)...drawn + .milliseconds(2) ~= delay)
      #expect(delay <= .milliseconds(30_000))
      full = min(full * 1.3, 30_000)
    }
    backoff.reset()
    #expect(backoff.next(unit: unit) == .zero)
    backoff.exhaust()
    #expect(backoff.next(unit: 0.999) > .milliseconds(29_000))
    backoff.reset()
    backoff.exhaust()
    #expect(
      backoff.next(unit: 0) == .milliseconds(9_000), "an overloaded server is not asked at once")
  }
}
