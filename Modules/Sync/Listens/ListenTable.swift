/// The listens that this client wants from the server, with the state of each.
///
/// Answers are matched by request number, so that the answer to a listen that was stopped and
/// started again in the meantime is not taken for the answer to the new one.
package struct ListenTable<Target: Hashable & Sendable>: Sendable {
  /// The state of one listen.
  package enum State: Equatable, Sendable {
    /// Not sent on this connection.
    case waiting
    /// Sent in this request; not answered yet.
    case sent(request: UInt64)
    /// The server serves it on this connection.
    case active
  }

  private struct Entry {
    var order: UInt64
    var state: State
  }

  private var entries: [Target: Entry] = [:]
  private var targets: [UInt64: Target] = [:]
  private var lastOrder: UInt64 = 0

  package init() {}

  /// The wanted listens, oldest first.
  package var inOrder: [Target] {
    entries.sorted { $0.value.order < $1.value.order }.map(\.key)
  }

  package func state(of target: Target) -> State? { entries[target]?.state }

  /// Notes that `target` is wanted; does nothing when it already is.
  package mutating func start(_ target: Target) {
    guard entries[target] == nil else { return }
    lastOrder += 1
    entries[target] = Entry(order: lastOrder, state: .waiting)
  }

  /// Notes that `target` is no longer wanted.
  ///
  /// - Returns: Whether the server was told about it on this connection and has to be told again.
  package mutating func stop(_ target: Target) -> Bool {
    switch entries.removeValue(forKey: target)?.state {
    case nil, .waiting: return false
    case .active: return true
    case .sent(let request):
      targets[request] = nil
      return true
    }
  }

  /// Notes that `target` was sent in request number `request`.
  package mutating func sent(_ target: Target, request: UInt64) {
    entries[target]?.state = .sent(request: request)
    targets[request] = target
  }

  /// Takes the answer to `request`.
  ///
  /// - Returns: The listen it was about, now active; `nil` when that one is no longer wanted.
  package mutating func answered(_ request: UInt64) -> Target? {
    guard let target = targets.removeValue(forKey: request) else { return nil }
    entries[target]?.state = .active
    return target
  }

  /// Notes that the server could not serve the listen of `request` now: it waits again.
  ///
  /// - Returns: False when that listen is no longer wanted.
  package mutating func postponed(_ request: UInt64) -> Bool {
    guard let target = targets.removeValue(forKey: request) else { return false }
    entries[target]?.state = .waiting
    return true
  }

  /// Puts every listen back to waiting: the connection is gone.
  package mutating func disconnected() {
    targets.removeAll()
    for target in entries.keys { entries[target]?.state = .waiting }
  }
}
