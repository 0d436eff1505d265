import TernCore
public import TernQuery
public import TernSync
import TernTreeReplica

/// Limits of listeners.
public enum ListenLimits {
  /// The most child events that wait for a slow reader by default.
  public static let waitingEvents = 100_000
}

extension TreeQuerying {
  /// The result of this query now, and again after every change that affects it.
  ///
  /// Complete results are delivered as soon as they are known, from the cache or from the server. A
  /// result that is not complete is delivered when a local write is part of it: the write shows at
  /// once, with ``TreeSnapshot/isComplete`` `false` and only the children that are known. The same
  /// node is delivered again when only ``TreeSnapshot/isComplete`` has changed, or
  /// ``TreeSnapshot/hasPendingWrites`` of the result or of a place in it. A slow reader skips
  /// intermediate results and never sees two out of order.
  public func values() -> ListenSequence<TreeSnapshot, ListenError> {
    let target = target
    return ListenSequence(newest: { box in await target.observeValues(box) })
  }

  /// The same as ``values()``, and also incomplete results without local writes, the first at once,
  /// and again whenever only ``TreeSnapshot/isFromCache`` changes.
  public func snapshots() -> ListenSequence<TreeSnapshot, ListenError> {
    let target = target
    return ListenSequence(newest: { box in await target.observe(box) })
  }

  /// Returns the events of this query's children: first each present one, added; then every change.
  ///
  /// No event is left out. A reader that falls `limit` events behind gets
  /// ``ListenError/overflow(limit:)``.
  public func children(
    limit: Int = ListenLimits.waitingEvents
  ) -> ListenSequence<TreeChange, ListenError> {
    let target = target
    return ListenSequence(
      .every(limit: limit), overflow: { .overflow(limit: $0) },
      start: { box in await target.listen(for: .children, box) { $0.change } })
  }

  /// The first complete result, from the cache if it is there, else from the server.
  public func once() async throws(ListenError) -> TreeSnapshot {
    for try await snapshot in values() where snapshot.isComplete { return snapshot }
    throw .closed
  }

  /// The result now: what listeners keep up to date, else what the server says, else the cache.
  ///
  /// - Throws: ``ReadError/offline`` when none of them has the whole answer; without a connection
  ///   after three seconds. ``ReadError/cancelled`` at once when the task is cancelled.
  public func get() async throws(ReadError) -> TreeSnapshot {
    let target = target
    if let problem = target.problem { throw problem.readError }
    let promise = Promise<Result<ReadAnswer, ReadError>>()
    await target.session.read(at: target.path, query: target.query) { promise.resolve($0) }
    switch await promise.value(ifCancelled: .failure(.cancelled)) {
    case .failure(let error): throw error
    case .success(let answer):
      return TreeSnapshot(
        path: target.path, node: answer.node, query: target.query,
        isFromCache: answer.isFromCache, pending: answer.pending)
    }
  }

  /// Keeps this query in sync without a listener, and its data in the cache, or no longer.
  ///
  /// Holds until the program ends.
  public func keepSynced(_ isKept: Bool) async throws(ListenError) {
    let target = target
    if let problem = target.problem { throw problem.listenError }
    do throws(TreeError) { try target.path.validateLength() } catch { throw .invalid(error) }
    await target.session.keepSynced(isKept, at: target.path, query: target.query)
  }
}

// MARK: - Private detail

/// The location of a query, taken apart for its session.
struct QueryTarget: Sendable {
  enum Problem {
    case path(TreeError)
    case query(TreeQueryError)

    var listenError: ListenError {
      switch self {
      case .path(let error): .invalid(error)
      case .query(let error): .invalidQuery(error)
      }
    }

    var readError: ReadError {
      switch self {
      case .path(let error): .invalid(error)
      case .query(let error): .invalidQuery(error)
      }
    }
  }

  let session: TreeSession
  let path: TreePath
  let query: TreeQuery
  let problem: Problem?

  /// Registers a mailbox for some events; returns what unregisters it.
  func listen<Element: Sendable>(
    for kinds: EventKinds, _ box: Mailbox<Element, ListenError>,
    _ make: @escaping @Sendable (TreeEvent) -> Element
  ) async -> @Sendable () -> Void {
    if let problem {
      box.fail(problem.listenError)
      return {}
    }
    let session = session
    let id = await session.listen(
      at: path, query: query, for: kinds, heard: { box.post(make($0)) }, ended: { box.fail($0) })
    guard let id else { return {} }
    return {
      box.cancel()
      session.submit { $0.unlisten(id) }
    }
  }

  func observeValues(
    _ box: Mailbox<TreeSnapshot, ListenError>
  ) async -> @Sendable () -> Void {
    if let problem {
      box.fail(problem.listenError)
      return {}
    }
    let session = session
    guard let id = await session.observeValues(at: path, query: query, box) else { return {} }
    return {
      box.cancel()
      session.submit { $0.stopObservingValues(id) }
    }
  }

  func observe(_ box: Mailbox<TreeSnapshot, ListenError>) async -> @Sendable () -> Void {
    if let problem {
      box.fail(problem.listenError)
      return {}
    }
    let session = session
    guard let id = await session.observeSnapshots(at: path, query: query, box) else { return {} }
    return {
      box.cancel()
      session.submit { $0.stopObservingSnapshots(id) }
    }
  }
}

extension TreeQuerying {
  var target: QueryTarget {
    let queried = queried
    let reference = queried.reference
    let (query, problem): (TreeQuery, QueryTarget.Problem?) =
      switch (reference.problem, queried.query) {
      case (let error?, _): (.all, .path(error))
      case (nil, .failure(let error)): (.all, .query(error))
      case (nil, .success(let query)): (query, nil)
      }
    return QueryTarget(
      session: reference.session, path: reference.path, query: query, problem: problem)
  }
}
