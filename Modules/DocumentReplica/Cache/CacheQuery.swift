import TernCore
import TernQuery
import TernStorage
import TernSync

/// The search for a query's local result: by an index, from previous results, or by a scan.
///
/// Four ways exist, tried in this order: one document is looked up; indexes name the documents; the
/// server's last result is brought up to date; all documents of the collection are scanned. All
/// give the same result and differ in cost. Documents with pending writes or unstored changes are
/// offered apart, since rows show an older state of them.
struct CacheQuery {
  let query: DocumentQuery
  /// The documents with pending writes, as they are shown.
  let shown: [DocumentKey: Document]

  /// Runs the query.
  ///
  /// - Parameter usingPrevious: Whether the server's last result may be started from. False to
  ///   refill a window that a document has left, because that result lacks the successor.
  func run(in base: inout BaseCache, usingPrevious: Bool) -> CacheRun {
    if base.edits.count > BaseCache.editLimit { base.storeEdits() }
    if case .document(let key) = query.source {
      return CacheRun(query, looking: shown[key] ?? base.base(key).document)
    }
    if query.matchesAll { return runByScan(in: &base) }
    if let run = runByIndex(in: &base) { return run }
    if usingPrevious, let run = runByPrevious(in: &base) { return run }
    return runByScan(in: &base)
  }

  /// Returns `true` if a pending write or an unstored change hides a document's stored row.
  ///
  /// Such a document is skipped where rows are read, and offered by `offerOverlays`.
  func isOverlaid(_ key: DocumentKey, _ edits: DocumentEdits) -> Bool {
    shown[key] != nil || edits[key]?.contents != nil
  }

  /// Returns `true` if any document is hidden so.
  func hasOverlays(_ edits: DocumentEdits) -> Bool {
    !shown.isEmpty || !edits.isEmpty
  }

  /// Shows a query the documents that are not as they are stored.
  ///
  /// - Parameters:
  ///   - known: Documents it was shown already.
  ///   - since: Of what is not stored yet, only what was heard later.
  func offerOverlays(
    _ edits: DocumentEdits, to run: inout CacheRun,
    except known: Set<DocumentKey> = [], since: DocumentVersion? = nil
  ) {
    for (key, document) in shown where !known.contains(key) { run.offer(document) }
    for (key, edit) in edits where shown[key] == nil && !known.contains(key) {
      guard let (document, readTime) = edit.contents else { continue }
      if since.map({ readTime > $0 }) ?? true { run.offer(document) }
    }
  }
}

/// A query while it is run: what it has met and what it keeps of that.
///
/// A value that each attempt copies: a read that meets damage starts again with an untouched one.
struct CacheRun {
  let query: DocumentQuery
  let matcher: DocumentMatcher
  private(set) var selection: DocumentSelection
  var plan = DocumentQueryPlan(strategy: .scan)

  init(_ query: DocumentQuery) {
    self.query = query
    matcher = DocumentMatcher(query)
    selection = DocumentSelection(query)
  }

  /// The run of a query for one document.
  init(_ query: DocumentQuery, looking document: Document) {
    self.init(query)
    plan.strategy = .document
    offer(document)
  }

  /// The result so far, in order, no more than the limit.
  var documents: [Document] { selection.documents }

  /// Shows the query a document, wherever it lies.
  mutating func offer(_ document: Document) {
    plan.documentsRead += 1
    if matcher.matches(document) { selection.insert(document) }
  }

  /// Returns `true` if the query may keep a stored document, as far as its bytes tell.
  ///
  /// Decides on the packed bytes, so that most documents of a scan are never decoded.
  mutating func wants(key: Span<UInt8>, fields: Span<UInt8>) -> Bool {
    plan.documentsRead += 1
    return matcher.matchesWithinSource(key: key, fields: fields)
      && selection.admits(key: key, fields: fields)
  }

  /// Keeps a document that the query wants.
  mutating func keep(_ document: Document) { selection.insert(document) }
}

// MARK: Previous results

extension CacheQuery {
  /// Starts from what the server said last, and adds what has changed since.
  ///
  /// The server's result is trusted as of the version at which nothing in it was in doubt. Changes
  /// since then come from the recorded changes of the collections, if these reach back far enough.
  ///
  /// - Returns: `nil` when that is not known, or when a limited result may lack documents.
  private func runByPrevious(in base: inout BaseCache) -> CacheRun? {
    guard let target = base.remembered(.query(query.target)) else { return nil }
    let since = target.limboFreeVersion
    if since == .none { return nil }
    let remoteKeys = base.remoteKeys(of: target.id)
    var run = CacheRun(query)
    run.plan.strategy = .previousResults
    var count = 0
    let bases = base.bases(remoteKeys.filter { shown[$0] == nil })
    for key in remoteKeys {
      let document = shown[key] ?? bases[key]?.document ?? .invalid(key)
      run.plan.documentsRead += 1
      guard run.matcher.matches(document) else { continue }
      count += 1
      run.keep(document)
    }
    if needsRefill(run, count, remoteKeys.count, since) { return nil }
    let changed = base.reading(orElse: nil) { base, snapshot throws(StorageError) in
      try changes(since, except: remoteKeys, &base, snapshot)
    }
    guard let changed else { return nil }
    // Damage that was met on the way may have cost the target its result.
    guard base.remembered(.query(query.target))?.limboFreeVersion == since else { return nil }
    for document in changed { run.offer(document) }
    offerOverlays(base.edits, to: &run, except: remoteKeys, since: since)
    return run
  }

  /// Returns `true` if a limited result may lack documents that the server did not name.
  ///
  /// A window at its limit is complete only if no document has left it, and the one at its edge has
  /// not moved since.
  private func needsRefill(
    _ run: CacheRun, _ count: Int, _ remoteCount: Int, _ since: DocumentVersion
  ) -> Bool {
    guard let limit = run.query.limit, remoteCount > 0 else { return false }
    if count != remoteCount { return true }
    let documents = run.documents
    guard let edge = limit.side == .first ? documents.last : documents.first else { return false }
    return edge.localWrites == .pending || edge.version > since
  }

  /// Returns the changes in a query's scope since a version; `nil` when they were not recorded.
  private func changes(
    _ since: DocumentVersion, except known: Set<DocumentKey>, _ base: inout BaseCache,
    _ snapshot: borrowing Snapshot
  ) throws(StorageError) -> [Document]? {
    var documents: [Document] = []
    // Of a document that was damaged and fetched anew, an older change is left beside the new one.
    var met: Set<DocumentKey> = []
    for number in try base.rows.numbers(of: query, in: snapshot) {
      guard let collection = try base.rows.collection(number, in: snapshot) else { continue }
      if collection.unrecorded > since { return nil }
      let prefix = base.rows.keys.changes(number)
      var lower = prefix
      lower.append(integer: since.microseconds + 1)
      var changed: [DocumentKey] = []
      var cursor = snapshot.cursor(
        over: KeyRange(from: lower, to: KeyRange.successor(ofPrefix: prefix)))
      while try cursor.next() {
        let key = cursor.key
        changed.append(
          collection.key([UInt8](copying: key.extracting((prefix.count + 8)..<key.count))))
      }
      for key in changed
      where !known.contains(key) && !isOverlaid(key, base.edits) && met.insert(key).inserted {
        if let found = try base.rows.read(key, in: collection, snapshot) {
          documents.append(found.document)
        }
      }
    }
    return documents
  }
}

// MARK: Scanning

extension CacheQuery {
  /// Looks at every cached document of the collection, or of each collection of the group.
  private func runByScan(in base: inout BaseCache) -> CacheRun {
    let run = CacheRun(query)
    var scanned = base.reading(orElse: run) { base, snapshot throws(StorageError) in
      // Begun anew for each attempt, should there be damage on the way.
      var attempt = run
      for number in try base.rows.numbers(of: query, in: snapshot) {
        guard let collection = try base.rows.collection(number, in: snapshot) else { continue }
        if let table = base.rows.hot.use(number), table.isComplete {
          scan(table, &attempt, base.edits)
        } else {
          try scan(collection, &attempt, &base, snapshot)
        }
      }
      return attempt
    }
    offerOverlays(base.edits, to: &scanned)
    return scanned
  }

  private func scan(
    _ table: HotCollection, _ run: inout CacheRun, _ edits: DocumentEdits
  ) {
    let bytes = table.bytes.span
    let hasOverlays = hasOverlays(edits)
    for row in table.rows where row.isAlive && row.fields < row.end {
      let key = bytes.extracting(Int(row.start)..<Int(row.value))
      let fields = bytes.extracting(Int(row.fields)..<Int(row.end))
      guard run.wants(key: key, fields: fields) else { continue }
      let document = table.base(row).document
      if !hasOverlays || !isOverlaid(document.key, edits) { run.keep(document) }
    }
  }

  /// Scans the store, and keeps what it reads in memory unless that is too much.
  ///
  /// The first scan of a collection packs its documents in memory, if they fit; later scans do not
  /// read the store.
  private func scan(
    _ collection: CachedCollection, _ run: inout CacheRun, _ base: inout BaseCache,
    _ snapshot: borrowing Snapshot
  ) throws(StorageError) {
    let prefix = base.rows.keys.documents(collection.number)
    let isOversized = base.rows.hot.oversized.contains(collection.number)
    var table: HotCollection? = isOversized ? nil : HotCollection(collection.path)
    var text = Array((collection.path.text + "/").utf8)
    let textStart = text.count
    let hasOverlays = hasOverlays(base.edits)
    var cursor = snapshot.cursor(over: KeyRange(prefix: prefix))
    while try cursor.next() {
      guard let row = DocumentRow(cursor.value) else {
        throw .corruptRecord(key: [UInt8](copying: cursor.key))
      }
      let id = cursor.key.extracting(prefix.count..<cursor.key.count)
      table?.append(id, cursor.value)
      if let held = table, held.byteCount > base.rows.hot.limitBytes { table = nil }
      guard row.state == .found else { continue }
      text.removeSubrange(textStart...)
      text.append(copying: id)
      let fields = cursor.value.extracting(row.fieldsOffset..<cursor.value.count)
      guard run.wants(key: text.span, fields: fields) else { continue }
      let key = DocumentKey(unchecked: String(copying: text.span))
      if !hasOverlays || !isOverlaid(key, base.edits) { run.keep(row.document(key, cursor.value)) }
    }
    guard var table else { return base.rows.hot.noteOversized(collection.number) }
    table.isComplete = true
    base.rows.hot.replace(collection.number, with: table)
  }
}
