import TernClient
import TernCore
import TernDocumentReplica
import TernQuery
import TernStorage
import TernTestKit

// What comes into a cache, and out of it, past the server.

extension SimulatedWorld {
  /// Loads what a server could have bundled at a time that this device knows of, and listens to it.
  func loadBundle(_ run: DocumentRun) {
    let query = DocumentWorkloadSpace.query(&chance)
    let last = documents.index(at: run.version)
    let moment = documents.moments[max(last - chance.below(100), 0)]
    let name = "named-\(chance.below(3))"
    let metadata = BundleMetadata(id: "bundle-\(chance.below(3))", createTime: moment.version)
    if case .document = query.source { return }
    if moment.version == .none || run.machine.replica.cache.hasBundle(metadata) { return }
    trace.note("\(run.name) loads \(query.target.id) as of \(moment.version.microseconds)")
    let found = moment.result(of: query)
    for document in found {
      run.client.possible(document.key, documents).loaded(
        NaiveDocument(fields: document.fields, version: document.version))
    }
    run.machine.load(
      DocumentBundle(
        metadata: metadata,
        queries: [NamedQuery(name: name, query: query, readTime: moment.version)],
        documents: found.map {
          BundledDocument(document: $0, readTime: moment.version, queries: [name])
        }))
    carryOut(run)
    if run.listeners.count < 8, !run.isDead { listen(run, to: query) }
  }

  /// A record of a device's cache cannot be read any more.
  func damageCache(of client: SimulatedDocumentClient) {
    guard let run = client.run else { return }
    let keys: [[UInt8]]
    do throws(StorageError) {
      keys = try run.cacheStore.read { snapshot throws(StorageError) in
        try snapshot.scan(.all).map(\.key)
      }
    } catch {
      // What was damaged before is still there.
      return
    }
    guard let key = chance.pick(keys) else { return }
    trace.note("damages \(key.prefix(24)) of \(client.name)")
    client.cacheDisk.corrupt(key)
    client.damaged(documents)
  }
}
