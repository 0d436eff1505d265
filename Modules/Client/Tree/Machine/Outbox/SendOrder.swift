import TernTreeReplica

/// The order of the requests that wait or are on their way, which is that of the application's
/// calls: writes, transactions and onDisconnect operations.
///
/// An item leaves when it was answered. When the connection is lost, what was on its way goes
/// back to the front, in the old order.
struct SendOrder: Sendable {
  enum Item: Sendable, Hashable {
    case write(WriteID)
    /// A conditional write for one or several transactions.
    case batch(UInt64)
    case disconnect(OperationID)
  }

  private struct Entry {
    let order: UInt64
    let item: Item
  }

  /// An item on its way.
  private struct Flight {
    let order: UInt64
    let bytes: Int
    /// The number of rests that had begun when it was sent.
    let rests: UInt64
  }

  private var waiting: [Entry] = []
  private var first = 0
  private var inFlight: [Item: Flight] = [:]
  private var lastOrder: UInt64 = 0
  /// Sent, and not taken by a server that may take them later.
  private var resting: [Entry] = []
  /// The rests so far, each of which concerns all that was on its way at its beginning.
  private var rests: UInt64 = 0
  /// Items on their way that were sent before the latest rest began.
  private var itemsBehindRest = 0

  /// Items sent and not answered.
  var inFlightCount: Int { inFlight.count }

  /// The bytes of their frames.
  private(set) var inFlightBytes = 0

  /// The item to send next.
  var next: Item? { first < waiting.count ? waiting[first].item : nil }

  mutating func append(_ item: Item) {
    lastOrder += 1
    waiting.append(Entry(order: lastOrder, item: item))
  }

  /// Takes the next item off without waiting for an answer: it is no longer wanted.
  mutating func drop() {
    first += 1
    compact()
  }

  /// Notes that the next item was sent.
  mutating func sent(bytes: Int) {
    inFlight[waiting[first].item] = Flight(
      order: waiting[first].order, bytes: bytes, rests: rests)
    inFlightBytes += bytes
    drop()
  }

  /// Notes that an item was answered or is no longer waited for.
  mutating func answered(_ item: Item) {
    guard let flight = inFlight.removeValue(forKey: item) else { return }
    inFlightBytes -= flight.bytes
    if flight.rests < rests { itemsBehindRest -= 1 }
  }

  /// True while items that were sent before a rest began are on their way: the server may have
  /// missed what rests when it answers them.
  var hasItemsBehindRest: Bool { itemsBehindRest > 0 }

  /// Returns true for an item on its way that was sent before a rest began.
  func isBehindRest(_ item: Item) -> Bool { inFlight[item].map { $0.rests < rests } ?? false }

  /// Notes that the server does not take an item now: it waits for ``rested()``.
  mutating func rest(_ item: Item) {
    guard let flight = inFlight[item] else { return }
    answered(item)
    resting.append(Entry(order: flight.order, item: item))
    // One that was sent behind an earlier rest begins none of its own.
    if flight.rests < rests { return }
    rests += 1
    itemsBehindRest = inFlight.count
  }

  /// Puts what the server did not take back to the front.
  mutating func rested() { putBack(exchange(&resting, with: [])) }

  /// Puts everything on its way back to the front.
  mutating func disconnected() {
    rested()
    putBack(inFlight.map { Entry(order: $0.value.order, item: $0.key) })
    inFlight.removeAll()
    inFlightBytes = 0
    itemsBehindRest = 0
  }

  private mutating func putBack(_ back: [Entry]) {
    if back.isEmpty { return }
    waiting = (back + waiting[first...]).sorted { $0.order < $1.order }
    first = 0
  }

  /// Forgets the writes and the transactions, sent or not: their user is gone.
  mutating func removeWrites() {
    waiting = waiting[first...].filter { !$0.item.isWrite }
    first = 0
    resting.removeAll { $0.item.isWrite }
    for item in inFlight.keys where item.isWrite { answered(item) }
  }

  private mutating func compact() {
    guard first > 256, first * 2 > waiting.count else { return }
    waiting.removeFirst(first)
    first = 0
  }
}

extension SendOrder.Item {
  fileprivate var isWrite: Bool {
    switch self {
    case .write, .batch: true
    case .disconnect: false
    }
  }
}
