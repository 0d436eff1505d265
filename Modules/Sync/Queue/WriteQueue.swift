package import TernStorage

/// The durable queue of writes the server has not answered yet, and of those it refused.
///
/// It owns its store, apart from any cache. Every write gets the next number of its client's
/// stream inside the transaction that stores it, so a number is never used twice, whatever
/// crashes. The queue blocks on its disk: use it from a ``SerialWorkQueue``.
package struct WriteQueue: Sendable {
  private let store: any OrderedStore
  private let keys: QueueKeys
  private let limits: QueueLimits
  private var header: QueueCodec.Header
  private var entries: [UInt64: Entry] = [:]
  private var bytes = 0
  /// The contents of `entries` before the changes being made, oldest first.
  private var journal: [(id: UInt64, before: Entry?)] = []

  /// The part of a stored record that is kept in memory; its payload stays on disk.
  struct Entry: Sendable {
    enum Kind: Sendable { case pending, rejected, kept }
    var kind: Kind
    var bytes: Int
  }

  /// The writer id of this queue's writes.
  package var client: UInt128 { header.client }
  /// The permanent name of this store: its first ``client``, which a purge replaces.
  package var origin: UInt128 { header.origin }
  /// The number the next write will get.
  package var nextSequence: UInt64 { header.nextSequence }
  package var count: Int { entries.count }

  /// Opens the queue of a user in `store`, making it there when there is none.
  ///
  /// - Parameters:
  ///   - user: The user of the queue; empty for the queue without one.
  ///   - newClient: The id this client gets when the queue is made.
  /// - Returns: The queue and its records, in order.
  /// - Throws: ``QueueError/damaged(id:)`` when a record cannot be read. Nothing is
  ///   repaired; see ``setDamagedAside(in:of:filler:newClient:understands:)``.
  ///   ``QueueError/tooManyUsers(limit:)`` when there is no room for another user's queue.
  package static func open(
    _ store: any OrderedStore, of user: String = "", limits: QueueLimits = QueueLimits(),
    newClient: UInt128
  ) throws(QueueError) -> (WriteQueue, [QueuedWrite]) {
    let fresh = QueueCodec.Header(client: newClient)
    let keys = QueueKeys(user: user)
    var queue = WriteQueue(store: store, keys: keys, limits: limits, header: fresh)
    let writes: [QueuedWrite]
    do {
      let stored = try store.read { view throws(StorageError) in
        Result { () throws(QueueError) in try QueueCodec.header(keys, in: view) }
      }
      if let header = try stored.get() {
        queue.header = header
      } else {
        let idle = try UserQueues.makeRoom(for: user, in: store, limits)
        try store.write { transaction throws(StorageError) in
          if let idle { try transaction.remove(QueueKeys(user: idle).header) }
          try transaction.put(QueueCodec.encode(fresh), for: keys.header)
        }
      }
      writes = try queue.load()
    } catch let error as StorageError {
      throw .storage(error)
    } catch let error as QueueError {
      throw error
    } catch {
      throw .unreadable(reason: "\(error)")
    }
    return (queue, writes)
  }

  private init(
    store: any OrderedStore, keys: QueueKeys, limits: QueueLimits, header: QueueCodec.Header
  ) {
    self.store = store
    self.keys = keys
    self.limits = limits
    self.header = header
  }

  /// The refused writes, in order.
  package func rejected() throws(QueueError) -> [QueuedWrite] {
    var found: [QueuedWrite] = []
    for id in entries.filter({ $0.value.kind == .rejected }).keys.sorted() {
      found.append(try record(id, []))
    }
    return found
  }

  private mutating func load() throws(QueueError) -> [QueuedWrite] {
    let rows: [Row]
    do {
      rows = try store.read { view throws(StorageError) in try view.scan(keys.rows) }
    } catch .corruptRecord(let key) {
      throw .damaged(id: keys.id(fromKey: key) ?? 0)
    } catch {
      throw .storage(error)
    }
    var writes: [QueuedWrite] = []
    writes.reserveCapacity(rows.count)
    var lastSequence: UInt64?
    for row in rows {
      guard let id = keys.id(fromKey: row.key), id < header.nextID else {
        throw .damaged(id: keys.id(fromKey: row.key) ?? 0)
      }
      let write = try QueueCodec.decode(row.value, id: id)
      if case .pending(let sequence) = write.state {
        guard sequence < header.nextSequence, lastSequence.map({ $0 < sequence }) ?? true else {
          throw .damaged(id: id)
        }
        lastSequence = sequence
      }
      remember(write.state, id: id, bytes: row.value.count)
      writes.append(write)
    }
    return writes
  }

  /// The record `id`, as it is after `edits`.
  private func record(_ id: UInt64, _ edits: [Edit]) throws(QueueError) -> QueuedWrite {
    for case .put(id, let value) in edits.reversed() {
      return try QueueCodec.decode(value, id: id)
    }
    do {
      let bytes = try store.read { view throws(StorageError) in
        try view.get(keys.row(id))
      }
      guard let bytes else { throw QueueError.damaged(id: id) }
      return try QueueCodec.decode(bytes, id: id)
    } catch let error as QueueError {
      throw error
    } catch StorageError.corruptRecord {
      throw .damaged(id: id)
    } catch let error as StorageError {
      throw .storage(error)
    } catch {
      throw .unreadable(reason: "\(error)")
    }
  }

  private mutating func remember(_ state: QueuedWrite.State, id: UInt64, bytes size: Int) {
    let kind: Entry.Kind =
      switch state {
      case .pending: .pending
      case .rejected: .rejected
      case .kept: .kept
      }
    forget(id)
    entries[id] = Entry(kind: kind, bytes: size)
    bytes += size
  }

  private mutating func forget(_ id: UInt64) {
    let before = entries.removeValue(forKey: id)
    bytes -= before?.bytes ?? 0
    journal.append((id, before))
  }

  private mutating func restore(_ header: QueueCodec.Header, bytes: Int) {
    for (id, before) in journal.reversed() { entries[id] = before }
    self.header = header
    self.bytes = bytes
  }
}

// MARK: - Changing the queue

extension WriteQueue {
  /// Carries out the changes in order; all of them share one transaction.
  ///
  /// A change that is refused does not keep the others from being made. When the store fails,
  /// none is made, except that each gets a transaction of its own when the disk is full or a
  /// record is too large, so that answered writes can still leave.
  ///
  /// - Returns: One result for each change, in order, durable.
  package mutating func apply(_ changes: [QueueChange]) -> [QueueResult] {
    let (header, bytes) = (header, bytes)
    journal.removeAll(keepingCapacity: true)
    var edits: [Edit] = []
    let results = changes.map { plan($0, into: &edits) }
    guard !edits.isEmpty || self.header != header else { return results }
    do {
      try commit(edits)
      return results
    } catch {
      restore(header, bytes: bytes)
      if changes.count > 1, error.isOfOneChange { return changes.flatMap { apply([$0]) } }
      return results.map { result in
        if case .failed = result { result } else { .failed(.storage(error)) }
      }
    }
  }

  private enum Edit {
    case put(UInt64, [UInt8])
    case remove(UInt64)
  }

  private func commit(_ edits: [Edit]) throws(StorageError) {
    try store.write { transaction throws(StorageError) in
      for edit in edits {
        switch edit {
        case .put(let id, let value): try transaction.put(value, for: keys.row(id))
        case .remove(let id): try transaction.remove(keys.row(id))
        }
      }
      try transaction.put(QueueCodec.encode(header), for: keys.header)
    }
  }

  private mutating func plan(_ change: QueueChange, into edits: inout [Edit]) -> QueueResult {
    do {
      switch change {
      case .append(let payload):
        return try add(.pending(sequence: header.nextSequence), payload, &edits)
      case .keep(let payload):
        return try add(.kept, payload, &edits)
      case .settle(let id):
        return try drop(id, .pending, .kept, &edits)
      case .discard(let id):
        return try drop(id, .rejected, .rejected, &edits)
      case .reject(let id, let rejection):
        return try reject(id, rejection, &edits)
      case .retry(let id, let payload):
        return try retry(id, payload, &edits)
      case .purge(let newClient):
        return try purge(newClient, &edits)
      }
    } catch {
      return .failed(error)
    }
  }

  private mutating func add(
    _ state: QueuedWrite.State, _ payload: [UInt8], inPlaceOf old: Entry? = nil,
    _ edits: inout [Edit]
  ) throws(QueueError) -> QueueResult {
    let value = QueueCodec.encode(state, payload: payload)
    guard value.count <= StorageLimits.valueBytes else {
      throw .writeTooLarge(bytes: payload.count, limitBytes: StorageLimits.valueBytes - 9)
    }
    let freed = old?.bytes ?? 0
    guard old != nil || entries.count < limits.writeCount else {
      throw .queueFull(limitWrites: limits.writeCount)
    }
    guard value.count <= freed || bytes - freed + value.count <= limits.bytes else {
      throw .queueBytesFull(limitBytes: limits.bytes)
    }
    let id = header.nextID
    header.nextID += 1
    remember(state, id: id, bytes: value.count)
    edits.append(.put(id, value))
    guard case .pending(let sequence) = state else { return .stored(id: id, sequence: 0) }
    header.nextSequence += 1
    return .stored(id: id, sequence: sequence)
  }

  private mutating func drop(
    _ id: UInt64, _ kind: Entry.Kind, _ other: Entry.Kind, _ edits: inout [Edit]
  ) throws(QueueError) -> QueueResult {
    guard let entry = entries[id], entry.kind == kind || entry.kind == other else {
      throw .noSuchWrite(id: id)
    }
    forget(id)
    edits.append(.remove(id))
    return .changed
  }

  private mutating func reject(
    _ id: UInt64, _ rejection: Rejection, _ edits: inout [Edit]
  ) throws(QueueError) -> QueueResult {
    guard entries[id]?.kind == .pending else { throw .noSuchWrite(id: id) }
    let payload = try record(id, edits).payload
    let value = QueueCodec.encode(.rejected(rejection), payload: payload)
    remember(.rejected(rejection), id: id, bytes: value.count)
    edits.append(.put(id, value))
    return .changed
  }

  private mutating func retry(
    _ id: UInt64, _ payload: [UInt8]?, _ edits: inout [Edit]
  ) throws(QueueError) -> QueueResult {
    guard let entry = entries[id], entry.kind == .rejected else { throw .noSuchWrite(id: id) }
    var payload = payload
    if payload == nil { payload = try record(id, edits).payload }
    let result = try add(
      .pending(sequence: header.nextSequence), payload ?? [], inPlaceOf: entry, &edits)
    forget(id)
    edits.append(.remove(id))
    return result
  }

  private mutating func purge(
    _ newClient: UInt128, _ edits: inout [Edit]
  ) throws(QueueError) -> QueueResult {
    var dropped: [QueuedWrite] = []
    for id in entries.filter({ $0.value.kind != .rejected }).keys.sorted() {
      dropped.append(try record(id, edits))
    }
    for write in dropped {
      forget(write.id)
      edits.append(.remove(write.id))
    }
    header.client = newClient
    header.nextSequence = 1
    return .purged(dropped)
  }
}

extension StorageError {
  /// True when a transaction with fewer changes may succeed.
  fileprivate var isOfOneChange: Bool {
    switch self {
    case .diskFull, .valueTooLong: true
    default: false
    }
  }
}
