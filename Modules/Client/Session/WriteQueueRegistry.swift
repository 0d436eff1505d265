import Synchronization
package import TernStorage
package import TernSync

/// The contents of a user's queue at its opening.
package struct OpenedQueue: Sendable {
  /// The stream in which its writes are numbered.
  package let client: UInt128
  /// The first stream it ever had.
  package let origin: UInt128
  /// The number that it gives next.
  package let nextSequence: UInt64
  /// In order.
  package let rows: [QueuedWrite]
  /// The records that were set aside because they break a rule of what may be written.
  package var setAside: [DamagedRecord] = []

  /// Names the parts.
  package init(client: UInt128, origin: UInt128, nextSequence: UInt64, rows: [QueuedWrite]) {
    self.client = client
    self.origin = origin
    self.nextSequence = nextSequence
    self.rows = rows
  }

  /// The contents for a user without a queue.
  static func none(client: UInt128) -> OpenedQueue {
    OpenedQueue(client: client, origin: client, nextSequence: 1, rows: [])
  }

  init(_ queue: WriteQueue, _ rows: [QueuedWrite]) {
    self.init(
      client: queue.client, origin: queue.origin, nextSequence: queue.nextSequence, rows: rows)
  }
}

extension QueueError {
  /// True when a user cannot have a queue while the store and the queues of the others are well.
  var isOfUser: Bool {
    switch self {
    case .tooManyUsers, .userTooLong: true
    default: false
    }
  }

  /// True when records of one queue are damaged while the store can be read.
  var isOfRecords: Bool {
    switch self {
    case .damaged, .damagedHeader: true
    default: false
    }
  }
}

/// The records of a model in its write queue.
package struct QueueRecords: Sendable {
  /// Returns true when a record can be read and makes sense.
  let understands: @Sendable (QueuedWrite) -> Bool
  /// Returns true when the payload of a record names a format of this version.
  let isOfThisVersion: @Sendable (_ payload: [UInt8]) -> Bool
  /// The payload of a write that changes nothing.
  let filler: [UInt8]
}

/// The open queues of all users of one store.
package final class WriteQueueRegistry: Sendable {
  private let store: any OrderedStore
  private let records: QueueRecords
  private let limits: QueueLimits
  private let ambient: RuntimeEnvironment
  private let queues = Mutex<[QueueUser: Result<WriteQueue, QueueError>]>([:])

  /// Opens nothing yet.
  package init(
    store: any OrderedStore, of records: QueueRecords, limits: QueueLimits,
    ambient: RuntimeEnvironment
  ) {
    self.store = store
    self.records = records
    self.limits = limits
    self.ambient = ambient
  }

  /// Opens the queue of a user.
  ///
  /// Records whose bytes are well and that cannot be read all the same are set aside: an earlier
  /// version let them in, and nothing about the disk is in doubt.
  ///
  /// - Returns: What it holds; `nil` when it is open already.
  package func open(_ user: QueueUser) throws(QueueError) -> OpenedQueue? {
    let opened = queues.withLock { queues -> Result<OpenedQueue?, QueueError> in
      if case .success = queues[user] { return .success(nil) }
      do throws(QueueError) {
        let (queue, opened) = try openQueue(of: user)
        queues[user] = .success(queue)
        return .success(opened)
      } catch {
        queues[user] = .failure(error)
        return .failure(error)
      }
    }
    return try opened.get()
  }

  private func openQueue(
    of user: QueueUser
  ) throws(QueueError) -> (queue: WriteQueue, contents: OpenedQueue) {
    var (queue, rows) = try WriteQueue.open(
      store, of: user.id, limits: limits, newClient: ambient.randomID())
    let unreadable = rows.filter { !records.understands($0) }
    var setAside: [DamagedRecord] = []
    // What a later version has written is not for this one to take out.
    if !unreadable.isEmpty, unreadable.allSatisfy({ records.isOfThisVersion($0.payload) }) {
      let salvage = try WriteQueue.setDamagedAside(
        in: store, of: user.id, filler: records.filler, newClient: ambient.randomID(),
        understands: records.understands)
      setAside = salvage.damaged
      (queue, rows) = try WriteQueue.open(
        store, of: user.id, limits: limits, newClient: ambient.randomID())
    }
    var contents = OpenedQueue(queue, rows)
    contents.setAside = setAside
    return (queue, contents)
  }

  /// The permanent name of this device, for every user; `nil` when it cannot be read.
  package var origin: UInt128? {
    try? UserQueues.origin(in: store, newClient: ambient.randomID())
  }

  /// Opens the first queue, that of the user at the start.
  package func openFirst(_ user: QueueUser) throws(QueueError) -> OpenedQueue {
    guard let opened = try open(user) else {
      preconditionFailure("a new shelf has no open queues")
    }
    return opened
  }

  /// Opens the queues of all users that are not open; what they hold, or why they cannot be.
  package func openOthers() -> [(user: QueueUser, queue: Result<OpenedQueue, QueueError>)] {
    let known = queues.withLock { Set($0.keys) }
    let users = (try? UserQueues.users(in: store)) ?? []
    return ([""] + users).map { QueueUser($0) }.filter { !known.contains($0) }.compactMap { user in
      do throws(QueueError) {
        return try open(user).map { (user, .success($0)) }
      } catch {
        return (user, .failure(error))
      }
    }
  }

  /// Lets all changes of a user's queue fail, until it is opened again.
  package func refuse(_ user: QueueUser, _ error: QueueError) {
    queues.withLock { $0[user] = .failure(error) }
  }

  /// Makes changes; those in a row of one user share a transaction.
  package func apply(_ jobs: [(user: QueueUser, change: QueueChange)]) -> [QueueResult] {
    queues.withLock { queues in
      var results: [QueueResult] = []
      var rest = jobs[...]
      while let user = rest.first?.user {
        let part = rest.prefix { $0.user == user }
        rest = rest.dropFirst(part.count)
        switch queues.removeValue(forKey: user) {
        case .success(var queue):
          results += queue.apply(part.map(\.change))
          queues[user] = .success(queue)
        case .failure(let error):
          queues[user] = .failure(error)
          results += part.map { _ in .failed(error) }
        case nil: results += part.map { _ in .failed(.storage(.closed)) }
        }
      }
      return results
    }
  }
}
