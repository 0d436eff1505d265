import Foundation
import TernClient
import TernCore
import TernQuery
import TernTreeReplica

extension DatabaseQuery {
  /// Calls `block` for every event of a kind, from what is known now on.
  ///
  /// - Returns: The handle that ends it: ``removeObserver(withHandle:)``.
  @discardableResult
  public func observe(
    _ eventType: DataEventType, with block: @escaping (DataSnapshot) -> Void
  ) -> DatabaseHandle {
    observe(eventType, with: block, withCancel: nil)
  }

  /// The same; `cancelBlock` is called once if the server refuses or takes the right back.
  @discardableResult
  public func observe(
    _ eventType: DataEventType, with block: @escaping (DataSnapshot) -> Void,
    withCancel cancelBlock: ((any Error) -> Void)?
  ) -> DatabaseHandle {
    observe(
      eventType, andPreviousSiblingKeyWith: { snapshot, _ in block(snapshot) },
      withCancel: cancelBlock)
  }

  /// The same, with the key of the child before, in the order of the query; `nil` for the first.
  @discardableResult
  public func observe(
    _ eventType: DataEventType,
    andPreviousSiblingKeyWith block: @escaping (DataSnapshot, String?) -> Void,
    withCancel cancelBlock: ((any Error) -> Void)? = nil
  ) -> DatabaseHandle {
    register(eventType, once: false, Callback(block), Callback { error, _ in cancelBlock?(error) })
  }

  /// Calls `block` for the first event of a kind only; what is cached answers without the network.
  public func observeSingleEvent(
    of eventType: DataEventType, with block: @escaping (DataSnapshot) -> Void,
    withCancel cancelBlock: ((any Error) -> Void)? = nil
  ) {
    observeSingleEvent(
      of: eventType, andPreviousSiblingKeyWith: { snapshot, _ in block(snapshot) },
      withCancel: cancelBlock)
  }

  /// The same, with the key of the child before.
  public func observeSingleEvent(
    of eventType: DataEventType,
    andPreviousSiblingKeyWith block: @escaping (DataSnapshot, String?) -> Void,
    withCancel cancelBlock: ((any Error) -> Void)? = nil
  ) {
    _ = register(
      eventType, once: true, Callback(block), Callback { error, _ in cancelBlock?(error) })
  }

  /// Waits for the first event of a kind, and returns it with the key of the child before.
  ///
  /// Where Firebase waits for ever, because the server refuses, a snapshot of nothing is returned;
  /// ``getData()`` tells why. The same is returned at once when the task is cancelled.
  public func observeSingleEventAndPreviousSiblingKey(
    of eventType: DataEventType
  ) async -> (DataSnapshot, String?) {
    let answer = Promise<(DataSnapshot, String?)>()
    let nothing = DataSnapshot(ref: ref, node: .empty)
    let handle = register(
      eventType, once: true, Callback { answer.resolve(($0, $1)) },
      Callback { _, _ in answer.resolve((nothing, nil)) })
    let event = await answer.value(ifCancelled: (nothing, nil))
    if Task.isCancelled { removeObserver(withHandle: handle) }
    return event
  }

  /// Ends the registration that has this handle; unknown handles are ignored.
  public func removeObserver(withHandle handle: DatabaseHandle) {
    if let observer = database.observers.remove(handle, at: path, query: removalQuery) {
      database.stop([observer])
    }
  }

  /// Ends every registration here; at a location without a query, those of all its queries.
  public func removeAllObservers() {
    // What is no place has observers of its own, which have ended; those at `path` are others'.
    if problem != nil { return }
    database.stop(database.observers.removeAll(at: path, query: removalQuery))
  }

  /// Keeps what this query asks for on the device and in sync, with or without observers.
  public func keepSynced(_ keepSynced: Bool) {
    let (path, query) = (path, query)
    perform { $0.keepSynced(keepSynced, at: path, query: query) }
  }

  private var removalQuery: TreeQuery? { query.isDefault ? nil : query }
}

extension DatabaseQuery {
  /// Registers an observer of one kind of event.
  ///
  /// The handle exists before the session does, so that removing it early works. Both closures look
  /// at the observer on the callback queue: nothing is called after a removal on that queue.
  private func register(
    _ type: DataEventType, once: Bool, _ block: Callback<DataSnapshot, String?>,
    _ cancel: Callback<any Error, Void>
  ) -> DatabaseHandle {
    let (database, path, query) = (database, path, query)
    let (handle, observer) = database.observers.add(at: .init(path: path, query: query))
    let ended: @Sendable (any Error) -> Void = { error in
      database.call {
        guard observer.end() else { return }
        database.observers.forget(handle)
        cancel(NSError.database(error), ())
      }
    }
    let heard: @Sendable (TreeEvent) -> Void = { event in
      database.call {
        guard once ? observer.end() : observer.isActive else { return }
        if once {
          database.observers.forget(handle)
          database.stop([observer])
        }
        block(database.snapshot(of: event, query: query), event.change.previousKey?.text)
      }
    }
    perform(
      { session in
        guard observer.isActive else { return }
        observer.listener = session.listen(
          at: path, query: query, for: type.kinds, heard: heard,
          ended: { ended(DatabaseError($0)) })
      }, failed: ended)
    return handle
  }
}

extension DataEventType {
  fileprivate var kinds: EventKinds {
    switch self {
    case .childAdded: .childAdded
    case .childRemoved: .childRemoved
    case .childChanged: .childChanged
    case .childMoved: .childMoved
    case .value: .value
    }
  }
}
