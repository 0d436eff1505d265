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
    guard listeners.readCount < limits.reads else { return refuseRead() }
    var options = DocumentListenOptions(includesMetadata: true)
    options.waitsForServer = true
    let id = add(DocumentListener(query: query, options: options, purpose: .get(source)))
    return (id, settlePendingSnapshots())
  }

  /// Returns the target that serves a listener; `nil` when the listener has ended.
  package func target(of id: DocumentListenerID) -> Int32? {
    listeners[id].flatMap { queries.index(of: $0.query) }.map { queries.all[$0].view.target }
  }

  /// Stops a listener or a read; it hears nothing more.
  package mutating func unlisten(_ id: DocumentListenerID) -> [DocumentEffect] {
    remove(id)
    return settlePendingSnapshots()
  }

  /// Asks to hear whenever all listeners have heard the same; the first time is now.
  package mutating func listenInSync() -> (id: DocumentListenerID, effects: [DocumentEffect]) {
    let id = DocumentListenerID(number: nextNumber())
    listeners.inSync.append(id)
    emit(.inSync(id))
    return (id, settlePendingSnapshots())
  }

  /// Ends ``listenInSync()``.
  package mutating func unlistenInSync(_ id: DocumentListenerID) {
    listeners.inSync.removeAll { $0 == id }
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
    listeners.add(listener, id)
    let index = queries.index(of: listener.query) ?? open(listener.query)
    queries.all[index].listeners.append(id)
    let target = queries.all[index].view.target
    if listener.needsServer {
      queries.all[index].serverListeners += 1
      want(target)
    }
    let query = queries.all[index]
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
    let sibling = queries.index(servedBy: record.id)
    // No listener has used the target yet.
    if !queries.isServing(record.id) { cache.lostTargets.remove(record.id) }
    let isCurrent = sibling.map { queries.all[$0].view.isSynced } ?? false
    let hasToken = !record.resumeToken.isEmpty
    let outcome = view.begin(isCurrent: isCurrent, hasToken: hasToken)
    let id = Int(nextNumber())
    queries.append(ListenedQuery(id: id, view: view, hasCachedResults: hasToken))
    perform(
      limbo.change(of: record.id, added: outcome.limboAdded, removed: outcome.limboRemoved))
    cache.noteViewChanges(
      target: record.id, added: Set(view.documents.map(\.key)), removed: [], isFromCache: true)
    return queries.all.count - 1
  }

  private mutating func loadedView(of query: DocumentQuery, target: Int32) -> DocumentView {
    let result = cache.load(query, of: target)
    var view = DocumentView(query: query, target: target, serverKeys: result.remoteKeys)
    view.load(result.documents)
    return view
  }

  mutating func remove(_ id: DocumentListenerID) {
    guard let listener = listeners.remove(id),
      let index = queries.index(of: listener.query)
    else { return }
    queries.all[index].listeners.removeAll { $0 == id }
    if listener.needsServer { queries.all[index].serverListeners -= 1 }
    let target = queries.all[index].view.target
    let isLast = queries.all[index].listeners.isEmpty
    if isLast { queries.remove(at: index) }
    if listener.needsServer, !queries.needsServer(target) { leaveServer(target) }
    if isLast, !queries.isServing(target) {
      cache.release(target)
      perform(limbo.release(target))
    }
  }

  /// The server is no longer asked for a target: who goes on listening to the cache hears that
  /// what it shows may be out of date from here on. Source: Docs/Decisions/0010.
  private mutating func leaveServer(_ target: Int32) {
    unwant(target)
    perform(limbo.release(target))
    retryLookups()
    raise(queries.leaveServer(target))
  }

  /// Ends every listener of a target that the server refuses.
  mutating func fail(_ target: Int32, _ status: DocumentStatus) {
    for id in queries.ids(of: target) {
      guard let index = queries.index(of: id) else { continue }
      for listener in queries.all[index].listeners {
        listeners.fail(listener, status, &pendingEffects)
      }
      queries.remove(at: index)
    }
    cache.release(target)
    perform(limbo.release(target))
    retryLookups()
  }
}

extension WatchTarget.Subject {
  /// Returns the subject of the target that serves a query.
  static func subject(of query: DocumentQuery) -> WatchTarget.Subject {
    if case .document(let key) = query.source, query.filter == nil { return .documents([key]) }
    return .query(query.target)
  }
}
