import Synchronization
import TernClient
import TernDocumentReplica
import TernQuery

/// One registration of a listener.
public protocol ListenerRegistration: AnyObject, Sendable {
  /// Ends it; nothing is delivered afterwards, not even what is already on its way.
  func remove()
}

/// A registration, which is asked for permission right before each delivery.
final class SnapshotRegistration: ListenerRegistration {
  typealias Stop = @Sendable (isolated DocumentSession, DocumentListenerID) -> Void

  private struct State {
    var isActive = true
    var id: DocumentListenerID?
  }

  private let firestore: Firestore
  private let stop: Stop
  private let state = Mutex(State())

  /// - Parameter stop: Ends it in the session.
  init(_ firestore: Firestore, stop: @escaping Stop) {
    self.firestore = firestore
    self.stop = stop
  }

  var isActive: Bool { state.withLock { $0.isActive } }

  /// Registers in the session, unless it was removed before; for the session only.
  func begin(_ register: () -> DocumentListenerID?) {
    guard isActive else { return }
    let id = register()
    state.withLock { $0.id = id }
  }

  /// Notes that it has ended by itself.
  ///
  /// - Returns: Whether it was still there.
  @discardableResult
  func end() -> Bool {
    state.withLock { state in
      defer { state.isActive = false }
      return state.isActive
    }
  }

  func remove() {
    guard end() else { return }
    let stop = stop
    firestore.calls.submit { [self] session in
      if let id = state.withLock({ $0.id }) { stop(session, id) }
    }
  }
}

/// The source of a listener's data.
public enum ListenSource: UInt, Sendable {
  /// The cache and the server.
  case `default` = 0
  /// The cache alone: the server is never asked on behalf of this listener.
  case cache = 1
}

/// The events that a listener asks for.
public struct SnapshotListenOptions: Hashable, Sendable {
  /// True to receive events in which only metadata changed; off by default.
  public private(set) var includeMetadataChanges = false
  /// The source of the data.
  public private(set) var source = ListenSource.default

  /// The defaults.
  public init() {}

  /// The same, hearing of metadata or not.
  public func withIncludeMetadataChanges(_ includes: Bool) -> SnapshotListenOptions {
    var options = self
    options.includeMetadataChanges = includes
    return options
  }

  /// The same with another source.
  public func withSource(_ source: ListenSource) -> SnapshotListenOptions {
    var options = self
    options.source = source
    return options
  }

  var native: DocumentListenOptions {
    DocumentListenOptions(
      includesMetadata: includeMetadataChanges, source: source == .cache ? .cache : .server)
  }
}

/// The source of a single read's answer.
public enum FirestoreSource: UInt, Sendable {
  /// The server, and the cache when the server cannot be reached.
  case `default` = 0
  /// The server only.
  case server = 1
  /// The cache only.
  case cache = 2

  var native: DocumentGetSource {
    switch self {
    case .default: .serverOrCache
    case .server: .server
    case .cache: .cache
    }
  }
}
