package import TernCore

/// Documents that are shown although they are not in the server's result, and their lookups.
///
/// Each lookup has a target of its own, independent of the number of views. Lookups beyond the
/// limit wait in order. Source: documents reference, section 5.7.
package struct LimboTable: Sendable {
  /// The most concurrent lookups.
  package static let concurrentLimit = 100

  /// An effect for the caller to perform.
  package enum Action: Hashable, Sendable {
    /// Ask for a document.
    case watch(Int32, DocumentKey)
    /// The answer is no longer needed.
    case unwatch(Int32)
  }

  /// A lookup that is under way.
  struct Lookup {
    fileprivate let key: DocumentKey
    fileprivate var hasDocument = false

    /// The server's documents of its target.
    var serverKeys: Set<DocumentKey> { hasDocument ? [key] : [] }
  }

  private let limit: Int
  private var nextTarget: Int32 = 1
  /// The targets of the views that show a document.
  private var references: [DocumentKey: Set<Int32>] = [:]
  private var shown: [Int32: Set<DocumentKey>] = [:]
  /// The lookups by their targets.
  private(set) var lookups: [Int32: Lookup] = [:]
  private var targets: [DocumentKey: Int32] = [:]
  /// The documents still shown whose lookups were denied, and that another result has.
  private(set) var denied: Set<DocumentKey> = []
  /// Keys with the ticket they drew; one whose ticket is not the drawn one has left the queue.
  private var queue: [(key: DocumentKey, ticket: Int)] = []
  private var queueStart = 0
  private var tickets: [DocumentKey: Int] = [:]
  private var lastTicket = 0

  /// Makes an empty table.
  package init(limit: Int = LimboTable.concurrentLimit) { self.limit = limit }

  /// The documents asked for now, by target.
  package var active: [Int32: DocumentKey] { lookups.mapValues(\.key) }

  /// The documents that wait, in order.
  package var waiting: [DocumentKey] {
    queue[queueStart...].filter { tickets[$0.key] == $0.ticket }.map(\.key)
  }

  /// Takes note of what the server said about one of the targets.
  mutating func note(_ delta: DocumentServerEvent.TargetDelta, of target: Int32) {
    if !delta.added.isEmpty {
      lookups[target]?.hasDocument = true
    } else if !delta.removed.isEmpty {
      lookups[target]?.hasDocument = false
    }
  }

  /// A view's limbo documents changed.
  mutating func change(
    of target: Int32, added: Set<DocumentKey>, removed: Set<DocumentKey>
  ) -> [Action] {
    for key in added.sorted() {
      references[key, default: []].insert(target)
      shown[target, default: []].insert(key)
      enqueue(key)
    }
    var actions: [Action] = []
    for key in removed.sorted() { actions += drop(key, from: target) }
    return actions + pump()
  }

  /// A view is gone.
  mutating func release(_ target: Int32) -> [Action] {
    var actions: [Action] = []
    for key in (shown[target] ?? []).sorted() { actions += drop(key, from: target) }
    return actions + pump()
  }

  /// The server refuses to answer.
  ///
  /// - Returns: The document that was asked for; `nil` when the target is not of this table.
  mutating func refuse(_ target: Int32) -> DocumentKey? {
    guard let key = lookups.removeValue(forKey: target)?.key else { return nil }
    targets[key] = nil
    return key
  }

  /// Keeps a document whose lookup was denied, for as long as another result has it.
  mutating func keep(_ key: DocumentKey) -> [Action] {
    if references[key] != nil { denied.insert(key) }
    return pump()
  }

  /// Asks again for documents whose lookups were denied.
  mutating func retry(_ keys: some Sequence<DocumentKey>) -> [Action] {
    for key in keys where denied.remove(key) != nil { enqueue(key) }
    return pump()
  }

  private mutating func enqueue(_ key: DocumentKey) {
    guard targets[key] == nil, tickets[key] == nil else { return }
    lastTicket += 1
    tickets[key] = lastTicket
    queue.append((key, lastTicket))
  }

  private mutating func drop(_ key: DocumentKey, from target: Int32) -> [Action] {
    shown[target]?.remove(key)
    if shown[target]?.isEmpty == true { shown[target] = nil }
    references[key]?.remove(target)
    guard references[key]?.isEmpty != false else { return [] }
    references[key] = nil
    denied.remove(key)
    tickets[key] = nil
    guard let question = targets.removeValue(forKey: key) else { return [] }
    lookups[question] = nil
    return [.unwatch(question)]
  }

  /// Asks what waits, as far as the limit allows.
  mutating func pump() -> [Action] {
    var actions: [Action] = []
    while lookups.count < limit, queueStart < queue.count {
      let (key, ticket) = queue[queueStart]
      queueStart += 1
      guard tickets[key] == ticket else { continue }
      tickets[key] = nil
      let target = nextTarget
      nextTarget += 2
      lookups[target] = Lookup(key: key)
      targets[key] = target
      actions.append(.watch(target, key))
    }
    if queueStart == queue.count || queueStart > 1_024 {
      queue.removeSubrange(..<queueStart)
      queueStart = 0
    }
    return actions
  }
}
