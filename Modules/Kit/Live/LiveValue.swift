public import Observation
public import TernClient
import TernSync

/// The value of a query of the tree as an observable model: a view that reads it follows it.
///
/// ```swift
/// let title = LiveValue(tern.tree["rooms/42/title"], as: String.self)
/// title.value        // "Hi", and observed
/// ```
/// It listens as long as it is alive.
@MainActor @Observable
public final class LiveValue<Value: Decodable & Sendable> {
  /// The value; `nil` until one is known, and where nothing is.
  public private(set) var value: Value?
  /// True when all of the value is known; until then only local writes show.
  public private(set) var isComplete = false
  /// True when writes of this client are part of it that the server has not acknowledged.
  public private(set) var hasPendingWrites = false
  /// The reason why it no longer follows, or why the newest value does not decode.
  public private(set) var error: (any TernError)?

  @ObservationIgnored private var query: TreeQueryReference
  @ObservationIgnored private var task: Task<Void, Never>?

  /// Follows a location, or a query at one.
  public convenience init(_ query: some TreeQuerying, as type: Value.Type = Value.self) {
    self.init(resting: query)
    start()
  }

  /// Follows nothing before ``start()``.
  init(resting query: some TreeQuerying) { self.query = query.queried }

  deinit { task?.cancel() }

  /// Begins to follow, unless it does already.
  func start() {
    guard task == nil else { return }
    let snapshots = query.values()
    task = Task { [weak self] in
      do throws(ListenError) {
        for try await snapshot in snapshots where !Task.isCancelled { self?.show(snapshot) }
      } catch {
        if !Task.isCancelled { self?.error = error }
      }
    }
  }

  /// Follows a query in place of the former one, whose value is forgotten; nothing changes when
  /// they are the same.
  func follow(_ query: TreeQueryReference) {
    if query != self.query {
      task?.cancel()
      task = nil
      self.query = query
      (value, isComplete, hasPendingWrites, error) = (nil, false, false, nil)
    }
    start()
  }

  private func show(_ snapshot: TreeSnapshot) {
    isComplete = snapshot.isComplete
    hasPendingWrites = snapshot.hasPendingWrites
    do throws(TreeCodingError) {
      value = try snapshot.decode(Value?.self)
      error = nil
    } catch {
      self.error = error
    }
  }
}
