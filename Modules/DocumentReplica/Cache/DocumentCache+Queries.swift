import TernCore
package import TernQuery
import TernStorage
import TernSync

extension DocumentCache {
  /// Returns a query's local result: the cached documents with pending writes applied.
  ///
  /// - Parameter usingPrevious: `true` to start from the server's last result; `false` when a
  ///   limited result must be refilled.
  /// - Complexity: By an index, O(documents named by it); by previous results, O(those and what
  ///   has changed since); otherwise O(cached documents of the collection). Memory O(result).
  ///   Source: documents reference, section 5.10.
  package mutating func run(
    _ query: DocumentQuery, usingPrevious: Bool = true
  ) -> DocumentQueryResult {
    var run = find(query, usingPrevious: usingPrevious)
    let documents = run.documents
    run.plan.documentsReturned = documents.count
    if run.plan.strategy == .scan, createsIndexes {
      run.plan.createdIndexes = createIndexes(for: query, run.plan)
    }
    return DocumentQueryResult(documents: documents, plan: run.plan)
  }

  /// Returns the plan of a query, without creating indexes for it.
  package mutating func explain(_ query: DocumentQuery) -> DocumentQueryPlan {
    var run = find(query, usingPrevious: true)
    run.plan.documentsReturned = run.documents.count
    return run.plan
  }

  private mutating func find(_ query: DocumentQuery, usingPrevious: Bool) -> CacheRun {
    if edits.count > Self.editLimit { storeEdits() }
    if case .document(let key) = query.source {
      return CacheRun(query, looking: document(key))
    }
    if query.matchesAll { return runByScan(CacheRun(query)) }
    if let run = runByIndex(query) { return run }
    if usingPrevious, let run = runByPrevious(query) { return run }
    return runByScan(CacheRun(query))
  }

  /// Returns `true` if a pending write or an unstored change hides a document's stored row.
  func isOverlaid(_ key: DocumentKey) -> Bool {
    pending.shown[key] != nil || edits[key]?.contents != nil
  }

  var hasOverlays: Bool { !pending.shown.isEmpty || !edits.isEmpty }

  /// Shows a query the documents that are not as they are stored.
  ///
  /// - Parameters:
  ///   - known: Documents it was shown already.
  ///   - since: Of what is not stored yet, only what was heard later.
  func offerOverlays(
    to run: inout CacheRun, except known: Set<DocumentKey> = [], since: DocumentVersion? = nil
  ) {
    for (key, document) in pending.shown where !known.contains(key) { run.offer(document) }
    for (key, edit) in edits where pending.shown[key] == nil && !known.contains(key) {
      guard let (document, readTime) = edit.contents else { continue }
      if since.map({ readTime > $0 }) ?? true { run.offer(document) }
    }
  }
}

/// A query while it is run: what it has met and what it keeps of that.
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
  mutating func wants(key: Span<UInt8>, fields: Span<UInt8>) -> Bool {
    plan.documentsRead += 1
    return matcher.matchesWithinSource(key: key, fields: fields)
      && selection.admits(key: key, fields: fields)
  }

  /// Keeps a document that the query wants.
  mutating func keep(_ document: Document) { selection.insert(document) }
}

// MARK: Previous results

extension DocumentCache {
  /// Starts from what the server said last, and adds what has changed since.
  ///
  /// - Returns: `nil` when that is not known, or when a limited result may lack documents.
  private mutating func runByPrevious(_ query: DocumentQuery) -> CacheRun? {
    guard let target = remembered(.query(query.target)) else { return nil }
    let since = target.limboFreeVersion
    if since == .none { return nil }
    let remoteKeys = remoteKeys(of: target.id)
    var run = CacheRun(query)
    run.plan.strategy = .previousResults
    var count = 0
    let bases = bases(remoteKeys.filter { pending.shown[$0] == nil })
    for key in remoteKeys {
      let document = pending.shown[key] ?? bases[key]?.document ?? .invalid(key)
      run.plan.documentsRead += 1
      guard run.matcher.matches(document) else { continue }
      count += 1
      run.keep(document)
    }
    if needsRefill(run, count, remoteKeys.count, since) { return nil }
    let changed = reading(orElse: nil) { cache, snapshot throws(StorageError) in
      try cache.changes(for: query, since, except: remoteKeys, snapshot)
    }
    guard let changed else { return nil }
    // Damage that was met on the way may have cost the target its result.
    guard remembered(.query(query.target))?.limboFreeVersion == since else { return nil }
    for document in changed { run.offer(document) }
    offerOverlays(to: &run, except: remoteKeys, since: since)
    return run
  }

  /// Returns `true` if a limited result may lack documents that the server did not name.
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
  private mutating func changes(
    for query: DocumentQuery, _ since: DocumentVersion, except known: Set<DocumentKey>,
    _ snapshot: borrowing Snapshot
  ) throws(StorageError) -> [Document]? {
    var documents: [Document] = []
    // Of a document that was damaged and fetched anew, an older change is left beside the new one.
    var met: Set<DocumentKey> = []
    for number in try numbers(of: query, in: snapshot) {
      guard let collection = try collection(number, in: snapshot) else { continue }
      if collection.unrecorded > since { return nil }
      let prefix = keys.changes(number)
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
      where !known.contains(key) && !isOverlaid(key) && met.insert(key).inserted {
        if let base = try read(key, in: collection, snapshot) { documents.append(base.document) }
      }
    }
    return documents
  }

  /// The collections a query looks in, as far as anything is cached of them.
  mutating func numbers(
    of query: DocumentQuery, in snapshot: borrowing Snapshot
  ) throws(StorageError) -> [UInt64] {
    switch query.source {
    case .document, .all: return []
    case .group(let id): return try keys.numbers(inGroup: id, in: snapshot)
    case .collection(let path):
      if let known = collections[path] { return [known.number] }
      guard let found = try keys.find(path, in: snapshot) else { return [] }
      collections.insert(found)
      return [found.number]
    }
  }
}

// MARK: Scanning

extension DocumentCache {
  /// Looks at every cached document of the collection, or of each collection of the group.
  private mutating func runByScan(_ run: CacheRun) -> CacheRun {
    var scanned = reading(orElse: run) { cache, snapshot throws(StorageError) in
      // Begun anew for each attempt, should there be damage on the way.
      var attempt = run
      for number in try cache.numbers(of: run.query, in: snapshot) {
        guard let collection = try cache.collection(number, in: snapshot) else { continue }
        if let table = cache.hot.use(number), table.isComplete {
          cache.scan(table, &attempt)
        } else {
          try cache.scan(collection, &attempt, snapshot)
        }
      }
      return attempt
    }
    offerOverlays(to: &scanned)
    return scanned
  }

  private func scan(_ table: HotCollection, _ run: inout CacheRun) {
    let bytes = table.bytes.span
    let hasOverlays = hasOverlays
    for row in table.rows where row.isAlive && row.fields < row.end {
      let key = bytes.extracting(Int(row.start)..<Int(row.value))
      let fields = bytes.extracting(Int(row.fields)..<Int(row.end))
      guard run.wants(key: key, fields: fields) else { continue }
      let document = table.base(row).document
      if !hasOverlays || !isOverlaid(document.key) { run.keep(document) }
    }
  }

  /// Scans the store, and keeps what it reads in memory unless that is too much.
  private mutating func scan(
    _ collection: CachedCollection, _ run: inout CacheRun, _ snapshot: borrowing Snapshot
  ) throws(StorageError) {
    let prefix = keys.documents(collection.number)
    let isOversized = hot.oversized.contains(collection.number)
    var table: HotCollection? = isOversized ? nil : HotCollection(collection.path)
    var text = Array((collection.path.text + "/").utf8)
    let textStart = text.count
    let hasOverlays = hasOverlays
    var cursor = snapshot.cursor(over: KeyRange(prefix: prefix))
    while try cursor.next() {
      guard let row = DocumentRow(cursor.value) else {
        throw .corruptRecord(key: [UInt8](copying: cursor.key))
      }
      let id = cursor.key.extracting(prefix.count..<cursor.key.count)
      table?.append(id, cursor.value)
      if let held = table, held.byteCount > hot.limitBytes { table = nil }
      guard row.state == .found else { continue }
      text.removeSubrange(textStart...)
      text.append(copying: id)
      let fields = cursor.value.extracting(row.fieldsOffset..<cursor.value.count)
      guard run.wants(key: text.span, fields: fields) else { continue }
      let key = DocumentKey(unchecked: String(copying: text.span))
      if !hasOverlays || !isOverlaid(key) { run.keep(row.document(key, cursor.value)) }
    }
    guard var table else { return hot.noteOversized(collection.number) }
    table.isComplete = true
    hot.replace(collection.number, with: table)
  }
}
