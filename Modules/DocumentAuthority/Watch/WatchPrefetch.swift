import TernCore
package import TernQuery
package import TernStorage

/// The first snapshot of a target, read ahead in a state of the store that may be older than the
/// one in which the target is added.
///
/// A large first snapshot is read beside the server's executor, while commits go on. ``WatchDelta``
/// then adds what has changed since. It is a value, and is handed from one thread to the other.
package struct WatchPrefetch: Sendable {
  /// The state that it is of.
  let state: DatabaseState
  /// The version that the client resumes from.
  let start: WatchBodyID.Start
  /// The messages as of ``state``.
  let body: WatchBody
  /// The window of a query with a limit or an offset, loaded.
  let window: WatchWindow?
  /// The number of the query's documents, when they were counted.
  let count: Int?
  /// True when the body holds the correction for a client that holds another number of documents.
  let isCorrected: Bool

  /// About how many bytes of memory it takes.
  package var byteCount: Int {
    body.changes.reduce(0) { sum, change in
      switch change {
      case .changed(let document, _, _): sum + document.byteCountStored
      case .deleted(let key, _, _), .removed(let key, _, _): sum + key.text.utf8.count
      case .filter(_, _, let filter): sum + (filter?.bitmap.count ?? 0)
      case .target: sum
      }
    }
  }
}

/// The identity of a first snapshot that is read ahead: equal ones can be shared.
///
/// Targets of different streams that ask for the same are read once.
package struct WatchPrefetchID: Hashable, Sendable {
  private let subject: WatchTarget.Subject
  private let resume: WatchTarget.Resume?
  private let isCorrected: Bool

  /// The identity of the first snapshot of a target.
  package init(_ target: WatchTarget, corrects: Bool) {
    subject = target.subject.canonical
    resume = target.resume
    isCorrected = corrects
  }
}

extension DocumentAuthority {
  /// Reads the first snapshot of a target ahead.
  ///
  /// - Parameters:
  ///   - corrects: Whether the client holds another number of documents than it should.
  ///   - limits: The limits of the watch that the target will be added to.
  package func prefetch(
    _ target: WatchTarget, corrects: Bool, _ limits: DocumentWatchLimits = .init(),
    in reader: any StoreReader
  ) throws(StorageError) -> WatchPrefetch {
    let group = WatchGroup(target.subject.canonical, serial: 0)
    let reading = DocumentReading(rows, reader)
    let state = try reading.state()
    if var window = group.window {
      try window.load(reading)
      group.window = window
    }
    let delta = WatchDelta(group, reading, state, limitBytes: limits.openingBytes)
    let start = WatchDelta.start(target.resume, state)
    var body = try delta.body(from: start)
    if corrects, !body.isTooLarge { body = try delta.corrected(body) }
    return WatchPrefetch(
      state: state, start: start, body: body, window: group.window, count: group.count,
      isCorrected: corrects)
  }
}

extension WatchDelta {
  /// Brings a first snapshot that was read ahead up to date.
  ///
  /// - Parameters:
  ///   - start: The version that the client resumes from, worked out in the current state.
  ///   - known: The snapshot that was read ahead.
  ///   - keepsWindow: Whether the group takes the window over, if it has none yet.
  /// - Returns: `nil` when that is not possible any more.
  func body(
    from start: WatchBodyID.Start, _ known: WatchPrefetch, keepsWindow: Bool
  ) throws(StorageError) -> WatchBody? {
    guard known.start.covers(start), known.state.epoch == state.epoch,
      let changes = try changes(since: known.state.last)
    else { return nil }
    var body = known.body
    if var window = known.window {
      if !changes.isEmpty { body.changes += try window.update(changes, at: time, reading) }
      // A window that the group has loaded already is as new, and its subscribers have seen it.
      if keepsWindow, group.window?.shownCount == nil { group.window = window }
      return body
    }
    var growth = 0
    for change in changes {
      let meaning = group.meaning(of: change, at: time)
      growth += meaning.growth
      if let message = meaning.message { body.changes.append(message) }
    }
    if group.query != nil, group.count == nil { group.count = known.count.map { $0 + growth } }
    if body.heldBefore == nil, let before = body.growth {
      body.heldBefore = group.count.map { $0 - growth - before...$0 - growth - before }
    }
    return body
  }

  /// The documents of the group's subject that have changed since a version.
  ///
  /// - Returns: Changes in the order of keys; `nil` when they are not known any more.
  private func changes(
    since version: DocumentVersion
  ) throws(StorageError) -> [DocumentCommitChange]? {
    if version == state.last { return [] }
    var sources: [DocumentQuery.Source] = []
    var named: Set<DocumentKey>?
    switch group.subject {
    case .query(let target): sources = [target.source]
    case .documents(let keys):
      named = Set(keys)
      sources = Set(keys.map(\.collection)).map { .collection($0) }
    }
    var before: [DocumentKey: Document] = [:]
    for source in sources {
      guard case .success(let past) = try PastDocuments.read(source, at: version, reading) else {
        return nil
      }
      for (key, document) in past.documents where named?.contains(key) ?? true {
        before[key] = document
      }
    }
    var changes: [DocumentCommitChange] = []
    for (key, before) in before.sorted(by: { $0.key < $1.key }) {
      let after = try reading.document(key)
      if after.state == before.state, after.version == before.version { continue }
      changes.append(DocumentCommitChange(before: before, after: after))
    }
    return changes
  }
}
