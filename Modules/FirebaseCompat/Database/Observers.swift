import Synchronization
import TernClient
import TernCore
import TernQuery

/// The registrations of one database.
///
/// A handle is given before the session has heard of the registration, and nothing is delivered
/// after its removal, not even what already waits on the callback queue.
final class Observers: Sendable {
  struct Place: Hashable {
    let path: TreePath
    let query: TreeQuery
  }

  /// One registration; it is asked for permission right before each delivery.
  final class Observer: Sendable {
    private struct State {
      var isActive = true
      var listener: ListenerID?
    }

    let place: Place
    private let state = Mutex(State())

    init(place: Place) { self.place = place }

    var isActive: Bool { state.withLock { $0.isActive } }

    /// The session's name for it, once it has one.
    var listener: ListenerID? {
      get { state.withLock { $0.listener } }
      set { state.withLock { $0.listener = newValue } }
    }

    /// Ends the registration.
    ///
    /// - Returns: Whether it was still there.
    func end() -> Bool {
      state.withLock { state in
        defer { state.isActive = false }
        return state.isActive
      }
    }
  }

  private struct State {
    var last: DatabaseHandle = 0
    var all: [DatabaseHandle: Observer] = [:]
  }

  private let state = Mutex(State())

  func add(at place: Place) -> (handle: DatabaseHandle, observer: Observer) {
    let observer = Observer(place: place)
    let handle = state.withLock { state in
      state.last += 1
      state.all[state.last] = observer
      return state.last
    }
    return (handle, observer)
  }

  /// Takes a registration out, if it belongs to `path` and, when given, to `query`.
  func remove(_ handle: DatabaseHandle, at path: TreePath, query: TreeQuery?) -> Observer? {
    state.withLock { state in
      guard let observer = state.all[handle], observer.place.path == path,
        query == nil || observer.place.query == query
      else { return nil }
      state.all[handle] = nil
      return observer.end() ? observer : nil
    }
  }

  /// Takes out what ended by itself.
  func forget(_ handle: DatabaseHandle) {
    state.withLock { $0.all[handle] = nil }
  }

  /// Takes out every registration at `path` and, when given, of `query`.
  func removeAll(at path: TreePath, query: TreeQuery?) -> [Observer] {
    state.withLock { state in
      let found = state.all.filter { _, observer in
        observer.place.path == path && (query == nil || observer.place.query == query)
      }
      for handle in found.keys { state.all[handle] = nil }
      return found.sorted { $0.key < $1.key }.map(\.value).filter { $0.end() }
    }
  }
}
