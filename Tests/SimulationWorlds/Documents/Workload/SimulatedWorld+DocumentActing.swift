import TernClient
import TernCore
import TernDocumentReplica
import TernQuery
import TernSync

extension SimulatedWorld {
  /// The application of a client of documents does something.
  func actOnDocuments(_ index: Int) {
    if isHealed { return }
    plan(.documentClientActs(index), after: chance.happens(0.03) ? 10_000...90_000 : 5...600)
    guard let run = documentClients[index].run else { return }
    switch chance.below(100) {
    case 0..<48: write(run)
    case 48, 49: changeHands(run)
    case 50..<63: listen(run)
    case 63..<70: unlisten(run)
    case 70..<78: read(run)
    case 78..<82: transact(run)
    case 82..<85: aggregate(run)
    case 85..<87: switchNetwork(run, isOn: false)
    case 87..<91: switchNetwork(run, isOn: true)
    case 91..<94: answerRejection(run)
    case 94..<96: evict(run)
    case 96: lookAfterIndexes(run)
    case 97, 98: loadBundle(run)
    default: waitForWrites(run)
    }
    if run.isDead { return }
    carryOut(run)
  }

  // MARK: Listening and reading

  /// Starts the listeners that a program has from its start.
  func listenToDocumentsAgain(_ run: DocumentRun) {
    listen(run, to: .collection(CollectionPath(unchecked: "items")))
    carryOut(run)
    listen(run)
    carryOut(run)
  }

  private func listen(_ run: DocumentRun) {
    guard run.listeners.count < 8 else { return }
    listen(run, to: someQuery(run))
  }

  /// A query of the workload; half of them about what rules are about, where there are rules.
  func someQuery(_ run: DocumentRun) -> DocumentQuery {
    if books.isEmpty || chance.happens(0.5) { return DocumentWorkloadSpace.query(&chance) }
    return DocumentRulesSpace.query(&chance, by: run.client.user)
  }

  func listen(_ run: DocumentRun, to query: DocumentQuery) {
    let options = DocumentListenOptions(
      includesMetadata: chance.happens(0.8), source: chance.happens(0.1) ? .cache : .server)
    let id = run.machine.listen(query, options: options)
    trace.note("\(run.name) listens \(id.number) \(query.target.id) \(options)")
    run.listeners[id] = DocumentMirror(
      query: query, options: options, target: run.machine.replica.target(of: id),
      since: documents.moments.count - 1)
  }

  private func unlisten(_ run: DocumentRun) {
    let ids = run.listeners.keys.sorted { $0.number < $1.number }
    guard ids.count > 1, let id = chance.pick(ids) else { return }
    trace.note("\(run.name) leaves \(id.number) \(run.listeners[id]?.query.target.id ?? "")")
    run.listeners[id] = nil
    run.endedListeners.insert(id)
    run.machine.unlisten(id)
  }

  private func read(_ run: DocumentRun) {
    let sources: [DocumentGetSource] = [.serverOrCache, .server, .cache]
    let source = sources[chance.below(3)]
    read(someQuery(run), source, run)
  }

  @discardableResult
  private func read(
    _ query: DocumentQuery, _ source: DocumentGetSource, _ run: DocumentRun
  ) -> DocumentListenerID {
    trace.note("\(run.name) reads \(query.target.id) from \(source)")
    let sibling = run.listeners.values.first { $0.query == query && $0.options.source == .server }
    let id = run.machine.get(query, from: source)
    var mirror = DocumentMirror(
      query: query, options: DocumentListenOptions(includesMetadata: true),
      target: run.machine.replica.target(of: id) ?? sibling?.target,
      since: documents.moments.count - 1)
    mirror.version = sibling?.version ?? .none
    run.reads[id] = DocumentRead(source: source, mirror: mirror)
    return id
  }

  // MARK: The rest

  private func switchNetwork(_ run: DocumentRun, isOn: Bool) {
    run.client.isOfflineByWish = !isOn
    trace.note("\(run.name) switches the network \(isOn ? "on" : "off")")
    if !isOn { run.forgetStream() }
    run.machine.setNetwork(isEnabled: isOn)
  }

  /// Evicts as much as possible; documents with listeners must stay.
  private func evict(_ run: DocumentRun) {
    let result = run.machine.replica.cache.evict(
      DocumentEviction(thresholdBytes: 1, percent: 60))
    trace.note("\(run.name) evicts \(result)")
    run.client.forEachPossible(documents) { $0.forgotten() }
    carryOut(run)
    // A damaged cache may lose documents despite their listeners.
    if run.client.isDamaged { return }
    for id in run.listeners.keys.sorted(by: { $0.number < $1.number }) {
      guard let mirror = run.listeners[id], mirror.hasHeard, !run.isDead else { continue }
      // What is accepted and still to come is shown as it was while it was pending; and beside it a
      // limit may keep out what the cache has.
      if !mirror.mutated.isEmpty, mirror.query.limit != nil || !mirror.options.includesMetadata {
        continue
      }
      let kept = mirror.documents.filter { !mirror.mutated.contains($0.key) }
      for document in kept {
        if run.machine.replica.cache.document(document.key).state == document.state { continue }
        disagree("\(run.name) has evicted \(document.key) of \(mirror.query.target.id)")
      }
      // What the server has taken out of a target and not explained is shown, and not searched for;
      // who does not hear of metadata does not know of it.
      if mirror.isFromCache || !mirror.options.includesMetadata { continue }
      let found = read(mirror.query, .cache, run)
      run.reads[found]?.expected = kept
      carryOut(run)
    }
  }

  private func lookAfterIndexes(_ run: DocumentRun) {
    trace.note("\(run.name) looks after its indexes")
    switch chance.below(4) {
    case 0: run.machine.replica.cache.createsIndexes = chance.happens(0.7)
    case 1: run.machine.replica.cache.deleteAllIndexes()
    case 2:
      let json = """
        {"indexes":[{"collectionGroup":"items","queryScope":"COLLECTION",
        "fields":[{"fieldPath":"n","order":"ASCENDING"}]},
        {"collectionGroup":"items","queryScope":"COLLECTION",
        "fields":[{"fieldPath":"list","arrayConfig":"CONTAINS"}]}],"fieldOverrides":[]}
        """
      do { try run.machine.replica.cache.setIndexes(json) } catch { disagree("\(error)") }
    default: _ = run.machine.replica.cache.backfillIndexes(limit: 1 + chance.below(20))
    }
  }

  private func waitForWrites(_ run: DocumentRun) {
    run.waits[run.machine.waitForPendingWrites()] = (run.user, run.pending.last?.batch.id ?? 0)
  }
}
