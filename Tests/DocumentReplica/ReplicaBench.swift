import TernCore
import TernDocumentReplica
import TernQuery
import TernStorageMemory

/// A replica whose streams open at once, and what it did since the last look.
struct ReplicaBench {
  private(set) var replica: DocumentReplica
  private(set) var snapshots: [DocumentViewSnapshot] = []
  private(set) var answers: [DocumentGetResult] = []
  private(set) var sent: [UInt64] = []
  private(set) var watched: [WatchTarget] = []
  private(set) var settled: [UInt64] = []
  private(set) var waits: [Bool] = []
  private(set) var failures: [DocumentStatus] = []
  private(set) var inSyncCount = 0
  private var lastBatch: UInt64 = 0

  init(
    store: MemoryStore = MemoryStore(), limits: DocumentReplica.Limits = DocumentReplica.Limits()
  ) throws {
    let cache = try DocumentCache(store: store, prefix: [1])
    replica = DocumentReplica(
      cache: cache, database: try DocumentDatabase(projectID: "p"), limits: limits)
  }

  mutating func perform(_ effects: [DocumentEffect]) {
    var pendingEffects = effects[...]
    while let effect = pendingEffects.popFirst() {
      switch effect {
      case .openWatchStream: pendingEffects += replica.watchStreamOpened()
      case .openWriteStream: pendingEffects += replica.writeStreamOpened()
      case .watch(let target): watched.append(target)
      case .send(let batch): sent.append(batch.id)
      case .snapshot(_, let snapshot): snapshots.append(snapshot)
      case .failed(_, let status): failures.append(status)
      case .answered(_, let result): answers.append(result)
      case .settled(let batch, _): settled.append(batch)
      case .writesSettled(_, let isCancelled): waits.append(isCancelled)
      case .inSync: inSyncCount += 1
      case .closeWatchStream, .closeWriteStream, .unwatch, .startOnlineTimer, .stopOnlineTimer:
        break
      }
    }
  }

  /// Does something with the replica and what it then owes.
  mutating func run(_ body: (inout DocumentReplica) -> [DocumentEffect]) {
    perform(body(&replica))
  }

  @discardableResult
  mutating func listen(
    _ query: DocumentQuery, includesMetadata: Bool = true,
    source: DocumentListenOptions.Source = .server
  ) -> DocumentListenerID {
    let (id, effects) = replica.listen(
      query, options: DocumentListenOptions(includesMetadata: includesMetadata, source: source))
    perform(effects)
    return id
  }

  @discardableResult
  mutating func write(_ mutations: DocumentMutation...) -> UInt64 {
    lastBatch += 1
    let batch = replica.cache.prepare(
      mutations, id: lastBatch, user: "",
      at: DocumentTimestamp(uncheckedMicroseconds: Int64(lastBatch)))
    run { $0.plan(batch) }
    return lastBatch
  }

  mutating func acknowledge(_ batch: UInt64, at version: Int64) {
    run {
      $0.acknowledge(
        batch, version: DocumentVersion(microseconds: version),
        results: [DocumentWriteResult(version: DocumentVersion(microseconds: version))])
    }
  }

  mutating func tell(_ changes: WatchChange...) {
    for change in changes { run { $0.applyServer(change) } }
  }

  /// Tells a target everything that is in it, as of a version.
  mutating func tell(_ target: Int32, holds documents: [Document], at version: Int64) {
    tell(.target(WatchTargetChange(.added, targets: [target])))
    for document in documents { tell(.changed(document, targets: [target], removed: [])) }
    tell(.target(WatchTargetChange(.current, targets: [target], resumeToken: [1])))
    tellSnapshot(version)
  }

  mutating func tellSnapshot(_ version: Int64) {
    tell(
      .target(
        WatchTargetChange(.none, readTime: DocumentVersion(microseconds: version))))
  }

  /// Forgets what was heard so far.
  mutating func clear() {
    (snapshots, answers, sent, watched, settled, waits) = ([], [], [], [], [], [])
    inSyncCount = 0
  }
}

/// A document `a/ID` with one field.
func entry(_ id: String, _ x: Int64, at version: Int64 = 0) -> Document {
  Document(
    DocumentKey(unchecked: "a/" + id), .found(["x": .integer(x)]),
    version: DocumentVersion(microseconds: version))
}

func set(_ id: String, _ x: Int64) -> DocumentMutation {
  DocumentMutation(DocumentKey(unchecked: "a/" + id), .set(["x": .integer(x)]))
}
