import TernCore
import TernDocumentReplica
import TernQuery
import TernStorageMemory
import TernTestKit

/// One replica, one naive server, another writer, and listeners that check what they hear.
struct ReplicaWorld {
  struct Heard {
    let query: DocumentQuery
    var documents: [Document] = []
    var isFromCache = true
    var hasHeard = false
  }

  private(set) var server = NaiveServer()
  private(set) var replica: DocumentReplica
  private(set) var heard: [DocumentListenerID: Heard] = [:]
  private(set) var failures: [String] = []
  private var dice: SeededGenerator

  private var isStreamOpen = false
  private var isWriteStreamOpen = false
  private var sent: [DocumentBatch] = []
  private var pending: [DocumentBatch] = []
  private var lastBatch: UInt64 = 0
  /// Accepted writes that the client has not been told of by the stream.
  private var unseen: [DocumentVersion] = []
  private var inbox: [WatchChange] = []
  private var toldVersion = DocumentVersion.none

  init(seed: UInt64, isEager: Bool) throws {
    dice = SeededGenerator(seed: seed)
    var settings = DocumentCache.Settings()
    settings.isEager = isEager
    let cache = try DocumentCache(store: MemoryStore(), prefix: [1], settings: settings)
    replica = DocumentReplica(
      cache: cache, database: try DocumentDatabase(projectID: "test-project"))
  }

  /// One random thing happens.
  mutating func step() throws {
    switch dice.roll(16) {
    case 0, 1:
      perform(
        replica.listen(
          try someQuery(), options: DocumentListenOptions(includesMetadata: true)))
    case 2:
      if let id = heard.keys.sorted(by: { $0.number < $1.number }).randomElement(using: &dice) {
        heard[id] = nil
        perform(replica.unlisten(id))
      }
    case 3, 4, 5: try write()
    case 6, 7: _ = server.commit([try someMutation()])
    case 8, 9: settleWrite()
    case 10: perform(replica.setNetwork(isEnabled: dice.roll(3) > 0))
    case 11:
      if dice.roll(3) == 0, isStreamOpen {
        breakStream()
        perform(replica.watchStreamClosed())
      }
    default: tell()
    }
    try replica.commit()
  }

  /// Everything that is on its way arrives.
  mutating func heal() throws {
    perform(replica.setNetwork(isEnabled: true))
    for _ in 0..<30 {
      while !sent.isEmpty { settleWrite() }
      tell(everything: true)
      try replica.commit()
    }
    for (id, heard) in heard {
      let expected = heard.query.run(over: Array(server.documents.values))
      if heard.isFromCache { failures.append("\(id) \(heard.query.id) is from cache at the end") }
      if heard.documents.map(\.state) != expected.map(\.state)
        || heard.documents.map(\.key) != expected.map(\.key)
      {
        failures.append(
          "\(id) \(heard.query.id) shows \(heard.documents.map(\.key)) at the end, "
            + "not \(expected.map(\.key))")
      }
    }
    if !pending.isEmpty { failures.append("\(pending.count) writes are still pending") }
  }

  private mutating func perform(_ started: (id: DocumentListenerID, effects: [DocumentEffect])) {
    perform(started.effects)
  }

  private mutating func perform(_ effects: [DocumentEffect]) {
    var pendingEffects = effects[...]
    while let effect = pendingEffects.popFirst() {
      switch effect {
      case .openWatchStream:
        isStreamOpen = true
        pendingEffects += replica.watchStreamOpened()
      case .closeWatchStream: breakStream()
      case .watch(let target): server.watch(target)
      case .unwatch(let target): server.unwatch(target)
      case .openWriteStream:
        isWriteStreamOpen = true
        pendingEffects += replica.writeStreamOpened()
      case .closeWriteStream:
        isWriteStreamOpen = false
        sent = []
      case .send(let batch): sent.append(batch)
      case .snapshot(let id, let snapshot): hear(id, snapshot)
      case .settled(let batch, _): pending.removeAll { $0.id == batch }
      case .failed(let id, let status): failures.append("\(id) failed: \(status)")
      case .startOnlineTimer, .stopOnlineTimer, .answered, .writesSettled, .inSync: break
      }
    }
  }

  private mutating func breakStream() {
    isStreamOpen = false
    server.closeStream()
    inbox = []
  }

  private mutating func write() throws {
    lastBatch += 1
    let count = 1 + dice.roll(2)
    let mutations = try (0..<count).map { _ in try someMutation() }
    let batch = replica.cache.prepare(
      mutations, id: lastBatch, user: "",
      at: DocumentTimestamp(uncheckedMicroseconds: Int64(lastBatch)))
    pending.append(batch)
    perform(replica.plan(batch))
  }

  private mutating func settleWrite() {
    guard !sent.isEmpty else { return }
    let batch = sent.removeFirst()
    switch server.commit(batch.mutations) {
    case .success(let (version, results)):
      unseen.append(version)
      perform(replica.acknowledge(batch.id, version: version, results: results))
    case .failure(let status): perform(replica.reject(batch.id, status))
    }
  }

  private mutating func tell(everything: Bool = false) {
    guard isStreamOpen else { return }
    if inbox.isEmpty { inbox = server.report(usesFilters: dice.roll(2) == 0) }
    var count = everything ? inbox.count : 1 + dice.roll(inbox.count)
    while count > 0, !inbox.isEmpty {
      let change = inbox.removeFirst()
      count -= 1
      if case .target(let told) = change, told.targets.isEmpty, let time = told.readTime {
        toldVersion = time
        unseen.removeAll { $0 <= time }
      }
      perform(replica.applyServer(change))
    }
  }
}

// MARK: What listeners hear

extension ReplicaWorld {
  private mutating func hear(_ id: DocumentListenerID, _ snapshot: DocumentViewSnapshot) {
    var entry = heard[id] ?? Heard(query: snapshot.query)
    apply(snapshot.changes, to: &entry.documents)
    entry.isFromCache = snapshot.isFromCache
    entry.hasHeard = true
    heard[id] = entry
    let shown = Array(snapshot.documents)
    if entry.documents.map(\.key) != shown.map(\.key)
      || entry.documents.map(\.state) != shown.map(\.state)
    {
      failures.append("\(id): the changes do not lead to what is shown")
    }
    let again = snapshot.query.run(over: shown)
    if again.map(\.key) != shown.map(\.key) {
      failures.append("\(id): \(shown.map(\.key)) is no result of \(snapshot.query.id)")
    }
    check(snapshot, id, shown)
  }

  private func apply(_ changes: [DocumentViewChange], to documents: inout [Document]) {
    for change in changes {
      if let index = change.oldIndex, index < documents.count { documents.remove(at: index) }
      if let index = change.newIndex, index <= documents.count {
        documents.insert(change.document, at: index)
      }
    }
  }

  /// A result that does not come from the cache is the server's, with pending writes on top.
  private mutating func check(
    _ snapshot: DocumentViewSnapshot, _ id: DocumentListenerID, _ shown: [Document]
  ) {
    guard !snapshot.isFromCache, unseen.isEmpty else { return }
    // What a pending write pushes out of a window, or into one, only the server can replace.
    if snapshot.query.limit != nil, !pending.isEmpty { return }
    var documents = server.documents(at: toldVersion)
    var patched: Set<DocumentKey> = []
    for batch in pending {
      for mutation in batch.mutations {
        var document = documents[mutation.key] ?? Document(mutation.key, .missing)
        var touched = DocumentMutation.Touched.everything
        mutation.applyLocally(to: &document, touched: &touched, at: batch.localWriteTime)
        documents[mutation.key] = document
        // What a patch makes of a document that the device was never told depends on the server.
        if case .patch = mutation.change { patched.insert(mutation.key) }
      }
    }
    let known = shown.filter { !patched.contains($0.key) }
    let expected = snapshot.query.run(over: Array(documents.values))
      .filter { !patched.contains($0.key) }
    if known.map(\.key) != expected.map(\.key) || known.map(\.state) != expected.map(\.state) {
      failures.append(
        "\(id) \(snapshot.query.id) shows \(known.map(\.key)), not \(expected.map(\.key))")
    }
  }
}

// MARK: A world small enough that everything meets

extension ReplicaWorld {
  private mutating func someKey() -> DocumentKey {
    DocumentKey(unchecked: dice.roll(5) == 0 ? "b/\(dice.roll(3))" : "a/\(dice.roll(8))")
  }

  private mutating func someMutation() throws -> DocumentMutation {
    let key = someKey()
    let number = DocumentInput.value(.integer(Int64(dice.roll(6))))
    switch dice.roll(6) {
    case 0: return .delete(key)
    case 1: return try .update(key, [(DocumentFieldPath(dotted: "x"), number)])
    case 2:
      return try .merge(
        key, with: [.init("n", .transform(.increment(.integer(Int64(1 + dice.roll(3))))))])
    default:
      let other = DocumentInput.value(.integer(Int64(dice.roll(3))))
      return try .set(key, to: [.init("x", number), .init("n", other)])
    }
  }

  private mutating func someQuery() throws -> DocumentQuery {
    let x = try DocumentFieldPath(dotted: "x")
    let n = try DocumentFieldPath(dotted: "n")
    var query = DocumentQuery.collection(CollectionPath(unchecked: dice.roll(5) == 0 ? "b" : "a"))
    switch dice.roll(5) {
    case 0: return .document(someKey())
    case 1: query = try query.where(x, .greaterThanOrEqual, .integer(Int64(dice.roll(5))))
    case 2: query = try query.where(n, .equal, .integer(Int64(dice.roll(3))))
    default: break
    }
    if dice.roll(2) == 0 { query = try query.ordered(by: x, isDescending: dice.roll(2) == 0) }
    switch dice.roll(4) {
    case 0: query = try query.first(1 + dice.roll(4))
    case 1: if !query.orders.isEmpty { query = try query.last(1 + dice.roll(4)) }
    default: break
    }
    return query
  }
}
