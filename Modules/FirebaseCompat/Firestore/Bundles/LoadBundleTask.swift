import Synchronization

/// The state of a bundle that is being taken in.
public enum LoadBundleTaskState: Int, Sendable {
  /// It was refused; nothing of it was taken in.
  case error = 0
  /// It is being taken in.
  case inProgress = 1
  /// All of it was taken in.
  case success = 2
}

/// The name of an observer of a ``LoadBundleTask``.
public typealias LoadBundleObserverHandle = Int

/// The progress of a bundle that is taken in.
public struct LoadBundleTaskProgress: Hashable, Sendable {
  /// Documents taken in.
  public let documentsLoaded: Int
  /// Documents in the bundle; 0 while that is not known.
  public let totalDocuments: Int
  /// Bytes taken in.
  public let bytesLoaded: Int
  /// Bytes of the bundle.
  public let totalBytes: Int
  /// The state: on its way, taken in, or refused.
  public let state: LoadBundleTaskState
}

/// A bundle that is being taken in. A bundle is taken in at once: there is one report of its
/// beginning, and one of its end.
public final class LoadBundleTask: Sendable {
  private struct State {
    var last = 0
    var observers: [Int: Callback<LoadBundleTaskProgress, Void>] = [:]
    var progress: LoadBundleTaskProgress?
  }

  private let firestore: Firestore
  private let state = Mutex(State())

  init(_ firestore: Firestore) { self.firestore = firestore }

  /// Calls `observer` with every report from now on, and with the last one if it is the end.
  @discardableResult
  public func addObserver(
    _ observer: @escaping (LoadBundleTaskProgress) -> Void
  ) -> LoadBundleObserverHandle {
    let callback = Callback<LoadBundleTaskProgress, Void> { progress, _ in observer(progress) }
    let (handle, known) = state.withLock { state in
      state.last += 1
      state.observers[state.last] = callback
      return (state.last, state.progress)
    }
    if let known, known.state != .inProgress { deliver(known, to: [handle]) }
    return handle
  }

  /// Ends an observer.
  public func removeObserverWith(handle: LoadBundleObserverHandle) {
    state.withLock { $0.observers[handle] = nil }
  }

  /// Ends all observers.
  public func removeAllObservers() { state.withLock { $0.observers = [:] } }

  func report(_ progress: LoadBundleTaskProgress) {
    let handles = state.withLock { state in
      state.progress = progress
      return state.observers.keys.sorted()
    }
    deliver(progress, to: handles)
  }

  private func deliver(_ progress: LoadBundleTaskProgress, to handles: [LoadBundleObserverHandle]) {
    firestore.calls.call { [self] in
      for handle in handles {
        state.withLock { $0.observers[handle] }?(progress, ())
      }
    }
  }
}
