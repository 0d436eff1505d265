import TernCore
import TernQuery
import TernSync
import TernTreeReplica

/// A listener for the values of a query.
struct ValueObserver: Sendable {
  let path: TreePath
  let query: TreeQuery
  let box: Mailbox<TreeSnapshot, ListenError>
  /// The snapshot that was posted last.
  var last: TreeSnapshot?

  /// True when a snapshot differs from the one posted last in what this listener hears about.
  func isNews(_ snapshot: TreeSnapshot) -> Bool {
    guard let last else { return snapshot.isComplete || snapshot.hasPendingWrites }
    return snapshot.isComplete != last.isComplete
      || snapshot.node != last.node || snapshot.differsInPendingWrites(from: last)
  }
}

/// The listeners for values, by their places: a write looks at those that it can concern.
struct ValueObservers: Sendable {
  private var list: [ListenerID: ValueObserver] = [:]
  private var places = PathTrie<Set<ListenerID>>()
  /// Those whose last snapshot was incomplete or had pending writes.
  private var unsettled: Set<ListenerID> = []
  /// Those at, above and below the places where local writes came or went since
  /// ``takeConcerned()``.
  private var concerned: Set<ListenerID> = []

  var isEmpty: Bool { list.isEmpty }

  subscript(id: ListenerID) -> ValueObserver? { list[id] }

  mutating func add(_ observer: ValueObserver, as id: ListenerID) {
    list[id] = observer
    places.update(at: observer.path) { place in
      // Not copied while the trie holds it, too.
      var ids = place.value.take() ?? []
      ids.insert(id)
      place.value = ids
    }
  }

  mutating func remove(_ id: ListenerID) {
    guard let path = list.removeValue(forKey: id)?.path else { return }
    places.update(at: path) { place in
      place.value?.remove(id)
      if place.value?.isEmpty == true { place.value = nil }
    }
    unsettled.remove(id)
    concerned.remove(id)
  }

  /// Notes that local writes came or went at these places.
  mutating func writesChanged(at paths: [TreePath]) {
    if list.isEmpty { return }
    var found: Set<ListenerID> = []
    for path in paths {
      let beneath = places.walk(to: path) { _, ids in found.formUnion(ids) }
      beneath?.visit { _, ids in found.formUnion(ids) }
    }
    concerned.formUnion(found)
  }

  /// Takes the listeners whose snapshot may be another one without an event.
  mutating func takeConcerned() -> Set<ListenerID> {
    defer { concerned = [] }
    return concerned.union(unsettled)
  }

  /// Notes the snapshot that a listener was told last.
  mutating func told(_ snapshot: TreeSnapshot, to id: ListenerID) {
    list[id]?.last = snapshot
    if snapshot.isComplete, !snapshot.hasPendingWrites {
      unsettled.remove(id)
    } else {
      unsettled.insert(id)
    }
  }
}

extension TreeSession {
  /// Tells a query's complete results, the incomplete ones that local writes are part of, and when
  /// only completeness or pending writes change.
  func observeValues(
    at path: TreePath, query: TreeQuery, _ box: Mailbox<TreeSnapshot, ListenError>
  ) -> ListenerID? {
    drain()
    // The events of the registration itself come before there is an observer: what they told is
    // looked up afterwards.
    let listener = listen(
      at: path, query: query, for: .value, heard: { _ in }, ended: { box.fail($0) })
    guard let listener else { return nil }
    values.add(ValueObserver(path: path, query: query, box: box), as: listener)
    tellValue(of: listener)
    return listener
  }

  func stopObservingValues(_ listener: ListenerID) {
    values.remove(listener)
    unlisten(listener)
  }

  /// Tells the event of a value listener; `false` when the registration is none.
  func tellValue(_ event: TreeEvent, of listener: ListenerID) -> Bool {
    guard let observer = values[listener] else { return false }
    post(
      TreeSnapshot(
        path: event.path, node: event.change.node, query: observer.query,
        isFromCache: event.isFromCache, pending: event.pending), to: listener)
    return true
  }

  /// Tells the observers whose snapshot has another state without an event.
  func tellValues() {
    if values.isEmpty { return }
    for listener in values.takeConcerned() { tellValue(of: listener) }
  }

  private func tellValue(of listener: ListenerID) {
    guard let observer = values[listener] else { return }
    let snapshot = machine.snapshot(at: observer.path, query: observer.query)
    if observer.isNews(snapshot) { post(snapshot, to: listener) }
  }

  private func post(_ snapshot: TreeSnapshot, to listener: ListenerID) {
    values.told(snapshot, to: listener)
    values[listener]?.box.post(snapshot)
  }
}
