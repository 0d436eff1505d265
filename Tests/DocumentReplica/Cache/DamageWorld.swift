import TernCore
import TernQuery
import TernStorage
import TernTestKit
import Testing

@testable import TernDocumentReplica

/// A device whose cache is damaged while it is switched off, and what its listeners hear after it.
struct DamageWorld {
  private static let all = DocumentQuery.collection(CollectionPath(unchecked: "a"))
  private static let count = 36
  private static let x = DocumentFieldPath(unchecked: ["x"])
  private static let n = DocumentFieldPath(unchecked: ["n"])

  private struct Heard {
    let query: DocumentQuery
    var isFromCache = true
    var documents: [Document] = []
  }

  private let opened: CacheStore.Opened
  private var server = NaiveServer()
  private var replica: DocumentReplica
  private var dice: SeededGenerator
  private var heard: [DocumentListenerID: Heard] = [:]
  private var isStreamOpen = false
  private var toldVersion = DocumentVersion.none
  /// Requests since the device was switched on that begin with nothing.
  private(set) var requestsFromNothing = 0
  private(set) var failures: [String] = []

  init(_ kind: CacheStore, seed: UInt64) throws {
    opened = try kind.open()
    dice = SeededGenerator(seed: seed)
    replica = try Self.replica(opened)
  }

  private static func replica(_ opened: CacheStore.Opened) throws -> DocumentReplica {
    DocumentReplica(
      cache: try DocumentCache(store: opened.store, prefix: []),
      database: try DocumentDatabase(projectID: "test-project"))
  }

  // MARK: What happens

  /// Fills the cache with rows of every kind.
  mutating func live() throws {
    for number in 0..<Self.count { try set("a/d\(number)", number) }
    for number in 0..<5 { try set("b/d\(number)", number) }
    replica.cache.setIndexes([
      DocumentIndex(group: "a", segments: [DocumentIndex.Segment(Self.n, .ascending)]),
      DocumentIndex(group: "a", segments: [DocumentIndex.Segment(Self.x, .ascending)]),
    ])
    try listen()
    try settle()
    for number in 0..<6 { try set("a/d\(number * 5)", 100 + number) }
    _ = server.commit([.delete(DocumentKey(unchecked: "a/d9"))])
    try settle()
    while replica.cache.backfillIndexes() > 0 {}
    perform(replica.load(try bundle()))
    try replica.commit()
  }

  /// Switches the device off, flips a bit in a row, lets the server go on, and switches it on.
  ///
  /// - Returns: Whether there was a row to be damaged.
  mutating func damage(_ tag: DocumentCacheKeys.Tag) throws -> Bool {
    let prefix = replica.cache.stored.rows.keys.begin(tag)
    let rows = try opened.store.read { snapshot throws(StorageError) in
      try snapshot.scan(KeyRange(prefix: prefix))
    }
    guard let row = rows.randomElement(using: &dice) else { return false }
    let count = try opened.flip(row, bit: dice.roll(1 << 20))
    for number in 0..<4 { try set("a/d\(number * 9)", 200 + number) }
    _ = server.commit([.delete(DocumentKey(unchecked: "a/d\(dice.roll(Self.count))"))])
    return count > 0
  }

  /// Starts the program anew.
  mutating func restart() throws {
    try opened.reopen()
    server.closeStream()
    isStreamOpen = false
    heard = [:]
    requestsFromNothing = 0
    replica = try Self.replica(opened)
  }

  /// Listens without a connection, and looks at single documents.
  mutating func lookOffline() throws {
    perform(replica.setNetwork(isEnabled: false))
    try listen()
    for number in 0..<Self.count {
      checkKnown(replica.document(DocumentKey(unchecked: "a/d\(number)")))
    }
    try replica.commit()
    perform(replica.afterCommit())
  }

  /// Listens, hears everything, and compares it with what the server has.
  mutating func converge() throws {
    perform(replica.setNetwork(isEnabled: true))
    try listen()
    try settle()
    for (id, heard) in heard {
      let expected = heard.query.run(over: Array(server.documents.values))
      if heard.isFromCache { failures.append("\(id) \(heard.query.id) stays from the cache") }
      if heard.documents != expected {
        failures.append(
          "\(id) \(heard.query.id) ends with \(heard.documents.map(\.key)), "
            + "not \(expected.map(\.key))")
      }
    }
    for document in server.documents.values where replica.document(document.key) != document {
      if document.key.text.hasPrefix("a/") { failures.append("\(document.key) is not cached") }
    }
  }

  private mutating func set(_ key: String, _ number: Int) throws {
    let fields: DocumentFields = [
      "x": .integer(Int64(number)), "n": .integer(Int64(number % 4)),
      "text": .string(String(repeating: "t", count: dice.roll(60))),
    ]
    _ = server.commit([DocumentMutation(DocumentKey(unchecked: key), .set(fields))])
  }

  private mutating func listen() throws {
    let all = Self.all
    let queries = [
      all, try all.where(Self.n, .equal, .integer(2)), try all.ordered(by: Self.x).first(7),
      try all.ordered(by: Self.x).last(5),
      .collection(CollectionPath(unchecked: "b")), try .group("b"),
      .document(DocumentKey(unchecked: "a/d12")),
      .document(DocumentKey(unchecked: "a/gone")),
    ]
    for query in queries where !heard.values.contains(where: { $0.query == query }) {
      let options = DocumentListenOptions(includesMetadata: true)
      let (id, effects) = replica.listen(query, options: options)
      if heard[id] == nil { heard[id] = Heard(query: query) }
      perform(effects)
    }
  }

  private mutating func settle() throws {
    for _ in 0..<6 {
      guard isStreamOpen else { continue }
      for change in server.report(usesFilters: dice.roll(2) == 0) {
        if case .target(let told) = change, told.targets.isEmpty, let time = told.readTime {
          toldVersion = time
        }
        perform(replica.applyServer(change))
      }
      try replica.commit()
      perform(replica.afterCommit())
    }
  }

  private func bundle() throws -> DocumentBundle {
    let time = DocumentVersion(microseconds: 5)
    let key = DocumentKey(unchecked: "c/d1")
    let document = Document(key, .found(["x": .integer(1)]), version: time, created: time)
    let query = DocumentQuery.collection(CollectionPath(unchecked: "c"))
    return DocumentBundle(
      metadata: BundleMetadata(
        id: "bundle", createTime: time, version: 1, totalDocuments: 1, totalBytes: 1),
      queries: [NamedQuery(name: "named", query: query, readTime: time)],
      documents: [BundledDocument(document: document, readTime: time, queries: ["named"])])
  }

  /// A bundle is there with its query, or may be taken in again.
  mutating func checkBundle() throws {
    let bundle = try bundle()
    if !replica.cache.hasBundle(bundle.metadata) { perform(replica.load(bundle)) }
    #expect(replica.cache.namedQuery("named")?.query == bundle.queries[0].query)
  }

  // MARK: What is heard

  private mutating func perform(_ effects: [DocumentEffect]) {
    var pendingEffects = effects[...]
    while let effect = pendingEffects.popFirst() {
      switch effect {
      case .openWatchStream:
        isStreamOpen = true
        pendingEffects += replica.watchStreamOpened()
      case .closeWatchStream:
        isStreamOpen = false
        server.closeStream()
      case .watch(let target):
        if target.resume == nil { requestsFromNothing += 1 }
        server.watch(target)
      case .unwatch(let target): server.unwatch(target)
      case .snapshot(let id, let snapshot): hear(id, snapshot)
      case .failed(let id, let status): failures.append("\(id) failed: \(status)")
      case .openWriteStream, .closeWriteStream, .send, .settled, .startOnlineTimer,
        .stopOnlineTimer, .answered, .writesSettled, .inSync:
        break
      }
    }
  }

  private mutating func hear(_ id: DocumentListenerID, _ snapshot: DocumentViewSnapshot) {
    let documents = Array(snapshot.documents)
    heard[id] = Heard(
      query: snapshot.query, isFromCache: snapshot.isFromCache, documents: documents)
    for document in documents { checkKnown(document) }
    if snapshot.isFromCache { return }
    let expected = snapshot.query.run(over: Array(server.documents(at: toldVersion).values))
    if documents != expected {
      failures.append(
        "\(snapshot.query.id) shows \(documents.map(\.key)) as the server's, "
          + "not \(expected.map(\.key))")
    }
  }

  /// Checks that a shown document was true at its version; an unknown one proves nothing.
  private mutating func checkKnown(_ document: Document) {
    let then = server.documents(at: document.version)[document.key]
    switch document.state {
    case .invalid, .unknown: break
    case .found:
      if then != document { failures.append("\(document) was never true") }
    case .missing:
      if then != nil { failures.append("\(document.key) was there at \(document.version)") }
    }
  }
}
