import TernCore
package import TernQuery

extension DocumentReplica {
  /// Starts to listen; the first event follows at once when the cache can give it.
  package mutating func listen(
    _ query: DocumentQuery, options: DocumentListenOptions = DocumentListenOptions()
  ) -> (id: DocumentListenerID, effects: [DocumentEffect]) {
    let id = add(DocumentListener(query: query, options: options, purpose: .snapshots))
    return (id, settlePendingSnapshots())
  }

  /// Reads once; with ``Limits/reads`` waiting already, the answer is a refusal. Source: documents
  /// reference, section 4.6.
  package mutating func get(
    _ query: DocumentQuery, from source: DocumentGetSource
  ) -> (id: DocumentListenerID, effects: [DocumentEffect]) {
    if source == .cache { return readCache(query) }
    guard readCount < limits.reads else { return refuseRead() }
    var options = DocumentListenOptions(includesMetadata: true)
    options.waitsForServer = true
    let id = add(DocumentListener(query: query, options: options, purpose: .get(source)))
    return (id, settlePendingSnapshots())
  }

  /// Returns the target that serves a listener; `nil` when the listener has ended.
  package func target(of id: DocumentListenerID) -> Int32? {
    listeners[id].flatMap { queryIDs[$0.query] }.flatMap(index(of:)).map { queries[$0].view.target }
  }

  /// Stops a listener or a read; it hears nothing more.
  package mutating func unlisten(_ id: DocumentListenerID) -> [DocumentEffect] {
    remove(id)
    return settlePendingSnapshots()
  }

  /// Asks to hear whenever all listeners have heard the same; the first time is now.
  package mutating func listenInSync() -> (id: DocumentListenerID, effects: [DocumentEffect]) {
    let id = DocumentListenerID(number: nextNumber())
    syncListeners.append(id)
    emit(.inSync(id))
    return (id, settlePendingSnapshots())
  }

  /// Ends ``listenInSync()``.
  package mutating func unlistenInSync(_ id: DocumentListenerID) {
    syncListeners.removeAll { $0 == id }
  }

  private mutating func refuseRead() -> (id: DocumentListenerID, effects: [DocumentEffect]) {
    let id = DocumentListenerID(number: nextNumber())
    let status = DocumentStatus(.resourceExhausted, "\(limits.reads) reads wait already")
    emit(.answered(id, .failure(status)))
    return (id, settlePendingSnapshots())
  }

  private mutating func readCache(
    _ query: DocumentQuery
  ) -> (id: DocumentListenerID, effects: [DocumentEffect]) {
    let id = DocumentListenerID(number: nextNumber())
    let view = loadedView(of: query, target: 0)
    let snapshot = view.snapshot(hasCachedResults: false)
    if case .document(let key) = query.source, view.documents.isEmpty {
      let known = cache.document(key)
      if known.state == .invalid || known.state == .unknown {
        let status = DocumentStatus(.unavailable, "the cache does not know the document")
        emit(.answered(id, .failure(status)))
        return (id, settlePendingSnapshots())
      }
    }
    emit(.answered(id, .success(snapshot)))
    return (id, settlePendingSnapshots())
  }

  private mutating func add(_ listener: DocumentListener) -> DocumentListenerID {
    let id = DocumentListenerID(number: nextNumber())
    listeners[id] = listener
    if listener.isRead { readCount += 1 }
    let index = queryIDs[listener.query].flatMap(index(of:)) ?? open(listener.query)
    queries[index].listeners.append(id)
    let target = queries[index].view.target
    if listener.needsServer {
      queries[index].serverListeners += 1
      want(target)
    }
    let query = queries[index]
    // The target may have failed already.
    let snapshot = query.view.snapshot(hasCachedResults: query.hasCachedResults)
    if raise(snapshot, to: id) { raiseInSync() }
    return id
  }

  /// Makes a view of what the cache holds.
  private mutating func open(_ query: DocumentQuery) -> Int {
    let allocated = cache.allocate(.subject(of: query))
    var view = loadedView(of: query, target: allocated.id)
    // Damage that was met on the way may have cost the target its token.
    let record = cache.target(allocated.id) ?? allocated
    let siblings = targetQueries[record.id] ?? []
    // No listener has used the target yet.
    if siblings.isEmpty { cache.lostTargets.remove(record.id) }
    let isCurrent = siblings.first.flatMap(index(of:)).map { queries[$0].view.isSynced } ?? false
    let hasToken = !record.resumeToken.isEmpty
    let outcome = view.begin(isCurrent: isCurrent, hasToken: hasToken)
    let id = Int(nextNumber())
    queries.append(ListenedQuery(id: id, view: view, hasCachedResults: hasToken))
    queryIDs[query] = id
    targetQueries[record.id, default: []].append(id)
    perform(
      limbo.change(of: record.id, added: outcome.limboAdded, removed: outcome.limboRemoved))
    cache.noteViewChanges(
      target: record.id, added: Set(view.documents.map(\.key)), removed: [], isFromCache: true)
    return queries.count - 1
  }

  private mutating func loadedView(of query: DocumentQuery, target: Int32) -> DocumentView {
    let result = cache.load(query, of: target)
    var view = DocumentView(query: query, target: target, serverKeys: result.remoteKeys)
    view.load(result.documents)
    return view
  }

  /// Returns the position of a query in ``queries``.
  func index(of id: Int) -> Int? { queries.index(of: id) }

  mutating func remove(_ id: DocumentListenerID) {
    guard let listener = take(id),
      let index = queryIDs[listener.query].flatMap(index(of:))
    else { return }
    queries[index].listeners.removeAll { $0 == id }
    if listener.needsServer { queries[index].serverListeners -= 1 }
    let target = queries[index].view.target
    let isLast = queries[index].listeners.isEmpty
    if isLast { close(index) }
    if listener.needsServer, !needsServer(target) { leaveServer(target) }
    if isLast, targetQueries[target] == nil {
      cache.release(target)
      perform(limbo.release(target))
    }
  }

  /// The server is no longer asked for a target: who goes on listening to the cache hears that
  /// what it shows may be out of date from here on. Source: Docs/Decisions/0010.
  private mutating func leaveServer(_ target: Int32) {
    unwant(target)
    perform(limbo.release(target))
    var snapshots: [(query: Int, snapshot: DocumentViewSnapshot)] = []
    for id in targetQueries[target] ?? [] {
      guard let snapshot = index(of: id).flatMap({ queries[$0].view.leaveServer().snapshot })
      else { continue }
      snapshots.append((id, snapshot))
    }
    raise(snapshots)
  }

  private mutating func close(_ index: Int) {
    let query = queries.remove(at: index)
    queryIDs[query.view.query] = nil
    let target = query.view.target
    targetQueries[target]?.removeAll { $0 == query.id }
    if targetQueries[target]?.isEmpty == true { targetQueries[target] = nil }
  }

  private func needsServer(_ target: Int32) -> Bool {
    (targetQueries[target] ?? []).contains { id in
      index(of: id).map { queries[$0].serverListeners > 0 } ?? false
    }
  }

  /// Ends every listener of a target that the server refuses.
  mutating func fail(_ target: Int32, _ status: DocumentStatus) {
    for id in targetQueries[target] ?? [] {
      guard let index = index(of: id) else { continue }
      for listener in queries[index].listeners { fail(listener, status) }
      close(index)
    }
    cache.release(target)
    perform(limbo.release(target))
  }

  /// Takes a listener off the list of all.
  private mutating func take(_ id: DocumentListenerID) -> DocumentListener? {
    let listener = listeners.removeValue(forKey: id)
    if listener?.isRead == true { readCount -= 1 }
    return listener
  }

  private mutating func fail(_ id: DocumentListenerID, _ status: DocumentStatus) {
    switch take(id)?.purpose {
    case .get: emit(.answered(id, .failure(status)))
    case .snapshots: emit(.failed(id, status))
    case nil: break
    }
  }
}

extension WatchTarget.Subject {
  /// Returns the subject of the target that serves a query.
  static func subject(of query: DocumentQuery) -> WatchTarget.Subject {
    if case .document(let key) = query.source, query.filter == nil { return .documents([key]) }
    return .query(query.target)
  }
}
