import TernTreeEngine

/// What goes to the server in the order the application asked for it: writes, transactions and
/// deferred writes.
///
/// An item leaves when it was answered. When the connection is lost, what was on its way goes
/// back to the front, in the old order.
struct Outbox: Sendable {
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

  private var waiting: [Entry] = []
  private var first = 0
  private var inFlight: [Item: (order: UInt64, bytes: Int)] = [:]
  private var lastOrder: UInt64 = 0

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
    inFlight[waiting[first].item] = (waiting[first].order, bytes)
    inFlightBytes += bytes
    drop()
  }

  /// Notes that an item was answered or is no longer waited for.
  mutating func answered(_ item: Item) {
    inFlightBytes -= inFlight.removeValue(forKey: item)?.bytes ?? 0
  }

  /// Puts everything on its way back to the front.
  mutating func disconnected() {
    let back = inFlight.map { Entry(order: $0.value.order, item: $0.key) }
    waiting = (back + waiting[first...]).sorted { $0.order < $1.order }
    first = 0
    inFlight.removeAll()
    inFlightBytes = 0
  }

  /// Forgets the writes and the transactions, sent or not: they are somebody's who is gone.
  mutating func removeWrites() {
    waiting = waiting[first...].filter { !$0.item.isWrite }
    first = 0
    for item in inFlight.keys where item.isWrite { answered(item) }
  }

  private mutating func compact() {
    guard first > 256, first * 2 > waiting.count else { return }
    waiting.removeFirst(first)
    first = 0
  }
}

extension Outbox.Item {
  fileprivate var isWrite: Bool {
    switch self {
    case .write, .batch: true
    case .disconnect: false
    }
  }
}
