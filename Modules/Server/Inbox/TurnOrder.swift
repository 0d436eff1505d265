/// The order of turns: the key that has cost least so far is first.
///
/// Start-time fair queueing with a bounded credit. Each key has a virtual time, which grows by the
/// cost of its turns; the earliest time is next, and equal times are served first come, first
/// served.
///
/// * Two keys that wait all the time differ in cost by no more than one turn of each.
/// * A key that returns after it waited for nothing keeps the time that it lagged behind the
///   others, up to ``creditLimit``. So a key with small turns goes ahead of every number of keys
///   with costly ones, also when it asks several times before all of those had a turn.
/// * A key that is seen for the first time begins where the present round did: it waits for one
///   turn at most of each key that waited before it.
///
/// Source: Goyal, Vin and Cheng, "Start-time fair queueing", 1996.
struct TurnOrder<Key: Hashable & Sendable>: Sendable {
  /// The most a turn is charged, so that one long piece of work is not held against a key for long.
  static var costLimit: Int { 1_000_000 }
  /// The most that a key that waits for nothing can lag behind: about 20 ms of work.
  static var creditLimit: UInt64 { 20_000 }
  /// The number of known keys from which on those that wait for nothing are forgotten.
  static var knownLimit: Int { 4_096 }

  private struct Account {
    var time: UInt64
    var isWaiting = false
  }

  private struct Turn {
    var time: UInt64
    /// Equal times go in the order in which they began to wait.
    var number: UInt64
    let key: Key

    func precedes(_ other: Turn) -> Bool { (time, number) < (other.time, other.number) }
  }

  private var accounts: [Key: Account] = [:]
  /// A heap: each turn precedes those at twice its index and one or two more.
  private var turns: [Turn] = []
  /// The latest time at which a round began; never goes back.
  private var now: UInt64 = 0
  /// The time at which the present round began; before ``now`` by the credit of its first key.
  private var roundTime: UInt64 = 0
  private var lastNumber: UInt64 = 0
  /// The number of known keys at which idle ones are forgotten; at least twice those that wait, so
  /// that looking for them costs constant time a key.
  private var forgettingCount = Self.knownLimit

  /// True when no key waits.
  var isEmpty: Bool { turns.isEmpty }

  /// The number of keys that are remembered.
  var knownCount: Int { accounts.count }

  /// Lets a key have a turn, unless it waits for one already.
  mutating func enqueue(_ key: Key) {
    if accounts.count >= forgettingCount, accounts[key] == nil { forgetIdle() }
    var account = accounts[key] ?? Account(time: roundTime)
    if account.isWaiting { return }
    account.isWaiting = true
    account.time = max(account.time, now - min(now, Self.creditLimit))
    accounts[key] = account
    lastNumber += 1
    insert(Turn(time: account.time, number: lastNumber, key: key))
  }

  /// Begins a round: turns that are taken before the costs of any of them are known.
  mutating func beginRound() {
    guard let first = removeEarliest() else { return }
    roundTime = first.time
    now = max(now, first.time)
    insert(first)
  }

  /// Removes and returns the key whose turn it is.
  mutating func next() -> Key? {
    guard let turn = removeEarliest() else { return nil }
    accounts[turn.key]?.isWaiting = false
    return turn.key
  }

  private mutating func removeEarliest() -> Turn? {
    while var turn = removeFirst() {
      guard let account = accounts[turn.key] else { continue }
      // Charged while it waited, for a turn that was carried out meanwhile.
      if account.time <= turn.time { return turn }
      turn.time = account.time
      insert(turn)
    }
    return nil
  }

  /// Takes back a charge for turns that were not carried out.
  mutating func refund(_ key: Key, _ cost: Int) {
    guard let time = accounts[key]?.time else { return }
    accounts[key]?.time = time - min(UInt64(max(cost, 0)), time)
  }

  /// Counts the cost of a key's turns.
  mutating func charge(_ key: Key, _ cost: Int) {
    accounts[key, default: Account(time: roundTime)].time += UInt64(
      min(max(cost, 0), Self.costLimit))
  }

  private mutating func forgetIdle() {
    // Those above are charged with something that is to be remembered.
    let time = now
    accounts = accounts.filter { $0.value.isWaiting || $0.value.time > time }
    if accounts.count > Self.knownLimit / 2 { accounts = accounts.filter { $0.value.isWaiting } }
    forgettingCount = max(Self.knownLimit, 2 * accounts.count)
  }

  private mutating func insert(_ turn: Turn) {
    turns.append(turn)
    var index = turns.count - 1
    while index > 0, turns[index].precedes(turns[(index - 1) / 2]) {
      turns.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  private mutating func removeFirst() -> Turn? {
    guard let last = turns.popLast() else { return nil }
    guard let first = turns.first else { return last }
    turns[0] = last
    var index = 0
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2] where child < turns.count {
        if turns[child].precedes(turns[least]) { least = child }
      }
      if least == index { return first }
      turns.swapAt(index, least)
      index = least
    }
  }
}
