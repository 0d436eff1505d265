/// The order in which clients have their turns: the client that has cost least is first.
///
/// Each key has a virtual time, which grows by the cost of its turns. The earliest time is next; a
/// key that has not waited for a while begins at the earliest time of those that wait, so that
/// turns are not saved up. A client with small requests overtakes any number with costly ones.
/// Source: start-time fair queueing, Goyal, Vin and Cheng 1996.
struct TurnOrder<Key: Hashable & Sendable>: Sendable {
  /// The most a turn is charged, so that one long piece of work is not atoned for all day.
  static var costLimit: Int { 1_000_000 }
  /// So many keys that wait for nothing may be known.
  static var mostKnown: Int { 4_096 }

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
  /// The earliest time of those that waited when the round began.
  private var now: UInt64 = 0
  private var lastNumber: UInt64 = 0

  /// True when no key waits.
  var isEmpty: Bool { turns.isEmpty }

  /// Lets a key have a turn, unless it waits for one already.
  mutating func enqueue(_ key: Key) {
    if accounts.count >= Self.mostKnown, accounts[key] == nil { forgetIdle() }
    var account = accounts[key] ?? Account(time: now)
    if account.isWaiting { return }
    account.isWaiting = true
    account.time = max(account.time, now)
    accounts[key] = account
    lastNumber += 1
    insert(Turn(time: account.time, number: lastNumber, key: key))
  }

  /// Begins to take turns that are played together: those who come meanwhile are not behind them.
  mutating func beginRound() {
    guard let first = removeEarliest() else { return }
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
      // Charged while it waited?
      if account.time <= turn.time { return turn }
      turn.time = account.time
      insert(turn)
    }
    return nil
  }

  /// Takes back a charge for turns that were not played.
  mutating func refund(_ key: Key, _ cost: Int) {
    guard let time = accounts[key]?.time else { return }
    accounts[key]?.time = time - min(UInt64(max(cost, 0)), time)
  }

  /// Counts what a key's turns have cost.
  mutating func charge(_ key: Key, _ cost: Int) {
    accounts[key, default: Account(time: now)].time += UInt64(min(max(cost, 0), Self.costLimit))
  }

  /// Forgets a key that is gone for good.
  mutating func forget(_ key: Key) {
    if accounts[key]?.isWaiting == false { accounts[key] = nil }
  }

  private mutating func forgetIdle() {
    let time = now
    accounts = accounts.filter { $0.value.isWaiting || $0.value.time > time }
    if accounts.count >= Self.mostKnown { accounts = accounts.filter { $0.value.isWaiting } }
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
