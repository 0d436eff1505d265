import TernStorageMemory
import Testing

@testable import TernCore
@testable import TernDocumentAuthority
@testable import TernQuery
@testable import TernStorage

/// A client that watches, as simple as it can be: what it was told, target by target.
final class WatchClient {
  struct Held {
    let subject: WatchTarget.Subject
    var documents: [DocumentKey: Document] = [:]
    var token: [UInt8] = []
    var isCurrent = false
    /// True when the filter told of a difference here.
    var isMismatched = false
  }

  let stream: Int
  var held: [Int32: Held] = [:]
  /// Messages about documents since this was last set to zero.
  var documentCount = 0
  var readTime = DocumentVersion.none

  init(stream: Int) { self.stream = stream }

  func target(_ id: Int32, resuming: Bool) -> WatchTarget? {
    guard let held = held[id] else { return nil }
    let resume: WatchTarget.Resume? = resuming && !held.token.isEmpty ? .token(held.token) : nil
    return WatchTarget(
      id: id, subject: held.subject, resume: resume,
      expectedCount: resume == nil ? nil : held.documents.count)
  }

  func receive(_ change: WatchChange) {
    switch change {
    case .target(let change): receive(change)
    case .changed(let document, let targets, let removed):
      documentCount += 1
      for target in targets { held[target]?.documents[document.key] = document }
      for target in removed { held[target]?.documents[document.key] = nil }
    case .deleted(let key, _, let removed), .removed(let key, _, let removed):
      documentCount += 1
      for target in removed { held[target]?.documents[key] = nil }
    case .filter(let target, let count, let unchanged): filter(target, count, unchanged)
    }
  }

  private func receive(_ change: WatchTargetChange) {
    // What is said to all concerns those that the server knows of.
    let active = held.filter { $0.value.isCurrent }.map(\.key)
    let targets = change.targets.isEmpty ? active : change.targets
    for target in targets {
      switch change.kind {
      case .none: break
      case .added: held[target]?.isCurrent = false
      case .removed: held[target] = nil
      case .current: held[target]?.isCurrent = true
      case .reset: held[target]?.documents = [:]
      }
      if !change.resumeToken.isEmpty { held[target]?.token = change.resumeToken }
    }
    if let time = change.readTime {
      #expect(time >= readTime)
      readTime = time
    }
  }

  private func filter(_ target: Int32, _ count: Int, _ unchanged: BloomFilter?) {
    guard let known = held[target], known.documents.count != count else { return }
    guard let unchanged else { return }
    for key in known.documents.keys
    where !unchanged.mightContain("projects/p/databases/(default)/documents/" + key.text) {
      held[target]?.documents[key] = nil
    }
    if held[target]?.documents.count != count { held[target]?.isMismatched = true }
  }
}

/// A store, all of its watchers, and the way between them.
final class WatchWorld {
  let store: AuthorityStore
  let watch: DocumentWatch
  var clients: [Int: WatchClient] = [:]
  /// Chooses the first snapshots that are read ahead, and the writes in between.
  var ahead: RandomDocuments?

  init(_ store: any OrderedStore = MemoryStore()) throws {
    self.store = try AuthorityStore(store)
    watch = DocumentWatch(self.store.authority)
  }

  /// Commits and informs all watchers.
  @discardableResult
  func write(_ mutations: [DocumentMutation]) throws -> [WatchDelivery] {
    guard case .success(let decision) = try store.commit(mutations) else { return [] }
    return try tell(decision)
  }

  /// Removes everything, and informs all watchers.
  func wipe() throws {
    try tell(store.wipe())
  }

  @discardableResult
  private func tell(_ decision: DocumentDecision) throws -> [WatchDelivery] {
    let time = DocumentVersion(microseconds: store.now)
    let (deliveries, snapshot) = try store.read { reader throws(StorageError) in
      (try watch.commit(decision, in: reader), try watch.snapshot(at: time, in: reader))
    }
    var streams: Set<Int> = []
    for delivery in deliveries {
      for subscriber in delivery.subscribers {
        streams.insert(subscriber.stream)
        for change in delivery.changes {
          clients[subscriber.stream]?.receive(change.addressed(to: subscriber.target))
        }
      }
    }
    for stream in streams { clients[stream]?.receive(snapshot) }
    return deliveries
  }

  /// Begins to watch, or goes on; once more from the beginning when the filter does not agree.
  func listen(_ client: WatchClient, _ id: Int32, resuming: Bool = true) throws {
    clients[client.stream] = client
    guard let target = client.target(id, resuming: resuming) else { return }
    let prefetch = try prefetch(target)
    let time = DocumentVersion(microseconds: store.now)
    let (opening, snapshot) = try store.read { reader throws(StorageError) in
      (
        try watch.listen(target, on: client.stream, prefetch, in: reader),
        try watch.snapshot(at: time, in: reader)
      )
    }
    if target.resume == nil { client.held[id]?.documents = [:] }
    for message in opening.messages(for: id) { client.receive(message) }
    client.receive(snapshot)
    guard client.held[id]?.isMismatched == true else { return }
    client.held[id]?.isMismatched = false
    watch.unlisten(id, on: client.stream)
    try listen(client, id, resuming: false)
  }

  /// Reads a first snapshot ahead, and lets something happen behind it.
  private func prefetch(_ target: WatchTarget) throws -> WatchPrefetch? {
    guard var random = ahead else { return nil }
    defer { ahead = random }
    guard random.chance(80) else { return nil }
    let corrects = target.expectedCount != nil && random.chance(30)
    let prefetch = try store.read { reader throws(StorageError) in
      try store.authority.prefetch(target, corrects: corrects, in: reader)
    }
    for _ in 0..<Int.random(in: 0...3, using: &random.random) {
      try write((0..<3).map { _ in random.mutation() })
    }
    if random.chance(3) { try wipe() }
    return prefetch
  }

  /// Ends a connection; the client keeps what it knows.
  func disconnect(_ client: WatchClient) {
    watch.closeStream(client.stream)
    clients[client.stream] = nil
  }

  /// Returns the documents of a target that a client should hold now.
  func expected(_ subject: WatchTarget.Subject) throws -> [DocumentKey: Document] {
    var documents: [Document] = []
    switch subject {
    case .query(let target): documents = try store.documents(DocumentQuery(target))
    case .documents(let keys): documents = try Set(keys).map(store.document).filter(\.isFound)
    }
    return Dictionary(uniqueKeysWithValues: documents.map { ($0.key, $0) })
  }
}
