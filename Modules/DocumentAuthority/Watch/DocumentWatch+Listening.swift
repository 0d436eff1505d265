import TernCore
package import TernQuery
package import TernStorage

extension DocumentWatch {
  /// Begins to watch a target for a stream.
  ///
  /// A resumed client receives exactly the changes since its last version, as long as they are
  /// known. After that, a query without a limit receives newer documents, the expected document
  /// count and a filter of the document names. All other targets receive the complete result again.
  /// Source: documents reference, sections 5.9 and 6.4.
  ///
  /// - Parameter prefetch: The target's first snapshot, read ahead; `nil` to read it now.
  /// - Returns: The messages up to CURRENT. A rejection is one REMOVE with its cause, and leaves no
  ///   subscriber.
  /// - Throws: `StorageError` when a record is damaged, or when the reader's client may hold no
  ///   more; nothing is watched then.
  package func listen(
    _ target: WatchTarget, on stream: Int, _ prefetch: WatchPrefetch? = nil,
    in reader: any StoreReader
  ) throws(StorageError) -> WatchOpening {
    if let refusal = refusal(of: target, on: stream) { return refused(target, refusal) }
    let group = group(of: target.subject)
    let reading = DocumentReading(authority.rows, reader)
    let state = try reading.state()
    let start = WatchDelta.start(target.resume, state)
    let id = WatchBodyID(group: group.serial, start: start, version: state.last)
    let delta = WatchDelta(group, reading, state, limitBytes: limits.openingBytes)
    var ready: WatchBody?
    // A body that was sent before is newer than one that was read ahead, and costs nothing.
    if let prefetch, told[id] == nil || prefetch.isCorrected {
      ready = try delta.body(from: start, prefetch, keepsWindow: !target.isOnce)
    }
    // The window must show the state of the body, so that the next commit is compared with what was
    // sent.
    if !target.isOnce, var window = group.window {
      try window.load(reading)
      group.window = window
    }
    let isCorrected = ready != nil && prefetch?.isCorrected == true
    var body: WatchBody
    if let known = told[id], !isCorrected {
      body = known
    } else {
      if let ready { body = ready } else { body = try delta.body(from: start) }
      if body.isTooLarge { return tooLarge(target) }
      // A group that nothing watches has no further subscribers.
      if !isCorrected, !target.isOnce { told.remember(id, body) }
    }
    var isMistaken = isCorrected
    if !isCorrected, let held = target.expectedCount, let known = body.heldBefore {
      isMistaken = !known.contains(held)
      if isMistaken { body = try delta.corrected(body) }
    }
    if body.isTooLarge { return tooLarge(target) }
    // The client named a point to resume at that means nothing here: it drops what it holds of the
    // target.
    let isVoid = body.isReset || start == .nothing && target.resume != nil
    var head = [WatchChange.target(WatchTargetChange(.added, targets: [target.id]))]
    if isVoid { head.append(.target(WatchTargetChange(.reset, targets: [target.id]))) }
    let token = WatchToken(state).encode()
    let tail = [
      WatchChange.target(
        WatchTargetChange(.current, targets: [target.id], resumeToken: token))
    ]
    var end: [WatchChange] = []
    if target.isOnce {
      end.append(.target(WatchTargetChange(.removed(nil), targets: [target.id])))
    } else {
      enter(group, WatchSubscriber(stream: stream, target: target.id))
    }
    // A client without a count of its own documents would compare the names with nothing.
    let isFiltered = body.changes.contains { if case .filter = $0 { true } else { false } }
    let strips = isFiltered && target.expectedCount == nil
    return WatchOpening(
      group: target.isOnce ? nil : group, head: head,
      body: strips ? body.changes.map(\.withoutNames) : body.changes,
      bodyID: isMistaken || strips || target.isOnce ? nil : id, tail: tail, end: end)
  }

  /// Makes the opening of a rejected target.
  private func refused(_ target: WatchTarget, _ status: DocumentStatus) -> WatchOpening {
    let message = WatchChange.target(WatchTargetChange(.removed(status), targets: [target.id]))
    return WatchOpening(group: nil, head: [message], body: [], bodyID: nil, tail: [], end: [])
  }

  /// Makes the opening of a target whose documents exceed the limit.
  private func tooLarge(_ target: WatchTarget) -> WatchOpening {
    let text = "The result is larger than \(limits.openingBytes) bytes."
    return refused(target, DocumentStatus(.resourceExhausted, text))
  }
}

/// The difference between a client's last state and the current one.
///
/// There are four ways, the cheapest that applies: the exact changes; the change of a window; the
/// newer documents with a filter; the whole result. All end in the state of `reading`.
struct WatchDelta {
  /// The group of the subject. Reading the whole result sets its count.
  let group: WatchGroup
  let reading: DocumentReading
  /// The state of the database in `reading`.
  let state: DatabaseState
  private let limitBytes: Int

  /// - Parameter limitBytes: The most bytes of documents that are told.
  init(
    _ group: WatchGroup, _ reading: DocumentReading, _ state: DatabaseState, limitBytes: Int
  ) {
    self.group = group
    self.reading = reading
    self.state = state
    self.limitBytes = limitBytes
  }

  /// As of when documents are missing.
  var time: DocumentVersion { max(state.last, DocumentVersion(microseconds: 1)) }

  /// The false-positive rate of the filter for documents that are not in the result.
  private static let filterErrorRate = 0.01

  /// Returns the version from which a client may continue; its state is void if that is not known
  /// here.
  ///
  /// A token counts if it is of this epoch and not of the future. A read time counts if it is not
  /// before the epoch; one of the future is taken for now.
  static func start(_ resume: WatchTarget.Resume?, _ state: DatabaseState) -> WatchBodyID.Start {
    switch resume {
    case nil: return .nothing
    case .token(let bytes):
      guard let token = WatchToken(bytes), token.epoch == state.epoch,
        token.version <= state.last, token.version != .none
      else { return .nothing }
      return .version(token.version)
    case .readTime(let version):
      guard state.epoch != .none, version >= state.epoch else { return .nothing }
      return .version(min(version, state.last))
    }
  }

  /// - Returns: Documents, their targets being ``WatchChange/anyTarget``. A body that is too large
  ///   is cut short.
  func body(from start: WatchBodyID.Start) throws(StorageError) -> WatchBody {
    guard case .version(let version) = start else { return try everything() }
    switch group.subject {
    case .documents(let keys): return try documents(keys, after: version)
    case .query(let target):
      if case .success(let past) = try PastDocuments.read(target.source, at: version, reading) {
        return try exactly(past)
      }
      // A filter counts the documents of a query, so it says nothing about a window within them.
      guard group.window == nil, let query = group.query else {
        return try everything(isReset: true)
      }
      return try filtered(query, after: version)
    }
  }

  /// Returns the correction for a client that holds another number of documents than it should.
  ///
  /// - Parameter body: The changes since the client's start, without a correction.
  func corrected(_ body: WatchBody) throws(StorageError) -> WatchBody {
    guard group.window == nil, let query = group.query else {
      return try everything(isReset: true)
    }
    // The changes are known; the client finds out which documents it has too many or too few.
    var corrected = try filtered(query, after: state.last)
    corrected.changes = body.changes + corrected.changes
    return corrected
  }

  /// Reads the whole result.
  ///
  /// - Parameter isReset: True when the client must drop what it holds first.
  private func everything(isReset: Bool = false) throws(StorageError) -> WatchBody {
    var body = WatchBody(changes: [], isReset: isReset)
    guard let query = group.query else {
      guard case .documents(let keys) = group.subject else { return body }
      let documents = try documents(keys, after: .none)
      (body.changes, body.isTooLarge) = (documents.changes, documents.isTooLarge)
      return body
    }
    let now = PastDocuments(documents: [:], version: state.last)
    var run = try QueryRun(query, now, reading)
    var byteCount = 0
    while !body.isTooLarge, let document = try run.next() {
      byteCount += document.byteCountStored
      body.isTooLarge = byteCount > limitBytes
      body.changes.append(WatchChange(document, at: time))
    }
    if group.window == nil, !body.isTooLarge { group.count = body.changes.count }
    return body
  }

  /// Missing documents are always told: that they are missing is all there is to know.
  ///
  /// - Parameters:
  ///   - keys: The named documents, in any order.
  ///   - version: Older documents are left out, as the client has them.
  private func documents(
    _ keys: [DocumentKey], after version: DocumentVersion
  ) throws(StorageError) -> WatchBody {
    var body = WatchBody(changes: [])
    var old = 0
    var byteCount = 0
    let distinct = Set(keys).sorted()
    for key in distinct where byteCount <= limitBytes {
      let document = try reading.document(key)
      if document.isFound, document.created <= version { old += 1 }
      if document.isFound, document.version <= version { continue }
      byteCount += document.byteCountStored
      body.changes.append(WatchChange(document, at: time))
    }
    body.isTooLarge = byteCount > limitBytes
    // What is missing or new now may have been there before.
    body.heldBefore = old...distinct.count
    return body
  }

  /// Returns the exact changes, computed from the known past documents; the whole result if they
  /// are larger than an opening may be, since it may have become small.
  private func exactly(_ past: PastDocuments) throws(StorageError) -> WatchBody {
    if group.window != nil, let query = group.query { return try windows(query, past) }
    var body = WatchBody(changes: [])
    var growth = 0
    var byteCount = 0
    for (key, before) in past.documents.sorted(by: { $0.key < $1.key }) {
      let now = try reading.document(key)
      if now.state == before.state, now.version == before.version { continue }
      let change = DocumentCommitChange(before: before, after: now)
      let meaning = group.meaning(of: change, at: time)
      growth += meaning.growth
      guard let message = meaning.message else { continue }
      byteCount += now.byteCountStored
      if byteCount > limitBytes { return try everything(isReset: true) }
      body.changes.append(message)
    }
    body.growth = growth
    // The client has seen everything up to the start, so it holds the documents of now less the
    // growth.
    body.heldBefore = group.count.map { $0 - growth...$0 - growth }
    return body
  }

  /// Returns the changes between the earlier and the current window of a query with a limit.
  private func windows(
    _ query: DocumentQuery, _ past: PastDocuments
  ) throws(StorageError) -> WatchBody {
    if past.documents.isEmpty {
      let count = group.window?.shownCount
      return WatchBody(changes: [], heldBefore: count.map { $0...$0 })
    }
    // Of the earlier window only names and versions are kept, of this one also what has changed.
    var versions: [DocumentKey: DocumentVersion] = [:]
    var earlier = try QueryRun(query, past, reading)
    var memory = KeptMemory(reading)
    while let document = try earlier.next() {
      try memory.keep(Document(document.key, .missing))
      versions[document.key] = document.version
    }
    let heldBefore = versions.count
    var body = WatchBody(changes: [], heldBefore: heldBefore...heldBefore)
    var byteCount = 0
    var changes: [(key: DocumentKey, change: WatchChange)] = []
    func add(_ key: DocumentKey, _ document: Document, _ change: WatchChange) {
      byteCount += document.byteCountStored
      changes.append((key, change))
    }
    let now = PastDocuments(documents: [:], version: state.last)
    var run = try QueryRun(query, now, reading)
    while byteCount <= limitBytes, let document = try run.next() {
      if versions.removeValue(forKey: document.key) == document.version { continue }
      add(document.key, document, WatchChange(document, at: time))
    }
    for key in versions.keys.sorted() where byteCount <= limitBytes {
      let document = try reading.document(key)
      add(
        key, document,
        document.isFound
          ? .changed(document, targets: [], removed: [WatchChange.anyTarget])
          : WatchChange(Document(key, .missing), at: time))
    }
    body.isTooLarge = byteCount > limitBytes
    body.changes = changes.sorted { $0.key < $1.key }.map(\.change)
    return body
  }

  /// Returns newer documents, and the filter by which the client finds removed ones.
  ///
  /// The client compares its count with that of the filter. When they differ, it drops the
  /// documents that the filter excludes, or asks for the target anew.
  ///
  /// - Complexity: Reads the whole result, and sends what is newer.
  private func filtered(
    _ query: DocumentQuery, after version: DocumentVersion
  ) throws(StorageError) -> WatchBody {
    let now = PastDocuments(documents: [:], version: state.last)
    var run = try QueryRun(query, now, reading)
    var body = WatchBody(changes: [])
    var names: [String] = []
    var memory = KeptMemory(reading)
    var byteCount = 0
    while !body.isTooLarge, let document = try run.next() {
      try memory.keep(Document(document.key, .missing))
      names.append(DocumentName(document.key, in: reading.rows.database).resourceName)
      guard document.version > version else { continue }
      byteCount += document.byteCountStored
      body.isTooLarge = byteCount > limitBytes
      body.changes.append(WatchChange(document, at: time))
    }
    let filter = BloomFilter(of: names, errorRate: WatchDelta.filterErrorRate)
    body.changes.append(
      .filter(target: WatchChange.anyTarget, count: names.count, unchanged: filter))
    return body
  }
}

extension WatchChange {
  /// A filter without its names, for clients that did not say how many documents they hold.
  ///
  /// The count stays: a client that holds another number resets the target.
  fileprivate var withoutNames: WatchChange {
    guard case .filter(let target, let count, _) = self else { return self }
    return .filter(
      target: target, count: count, unchanged: BloomFilter(bitmap: [], padding: 0, hashCount: 0))
  }
}

extension Document {
  /// About how much memory and room in a message it takes.
  var byteCountStored: Int { (fields?.bytes.count ?? 0) + key.text.utf8.count }
}
