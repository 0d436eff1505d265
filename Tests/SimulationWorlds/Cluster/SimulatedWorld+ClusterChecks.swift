import TernCommitLog
import TernCore
import TernDocumentAuthority
import TernLedger
import TernLogMemory
import TernQuery
import TernServer
import TernSharedLedger
import TernStorage
import TernTreeAuthority
import TernTreeRows

extension SimulatedWorld {
  /// Takes in what is new in the shared logs, before they may be cut.
  func followLog(_ cluster: SimulatedCluster) {
    do throws(CommitLogError) {
      let tables = cluster.memory.tables
      for shard in cluster.logs.indices {
        let id = ShardID(UInt32(shard))
        guard tables.openShards.contains(id) else { continue }
        let position = LogPosition(cluster.logs[shard].position)
        let batches = try tables.batches(in: id, after: position, limit: .max)
        for batch in batches { follow(batch, of: shard, cluster) }
      }
    } catch {
      disagree("a shared log was cut before it was looked at: \(error)")
    }
    for process in cluster.running + cluster.dying {
      for append in process.log.takeConfirmations() {
        let wrong = cluster.logs[process.node.shard].confirm(append, to: process.name)
        for words in wrong { disagree(words) }
      }
    }
  }

  private func follow(_ batch: LogBatch, of shard: Int, _ cluster: SimulatedCluster) {
    cluster.summary.batches += 1
    let (entries, wrong) = cluster.logs[shard].add(batch)
    for words in wrong { disagree(words) }
    if entries.isEmpty { return }
    if cluster.logs.count > 1 { checkPlaces(of: entries, in: shard) }
    if shard == 0 {
      for words in model.follow(entries, at: clock.now, from: cluster.senders) { disagree(words) }
    }
    for words in documents.follow(entries).wrong { disagree("the log of documents: \(words)") }
    for case let id? in entries.map(\.id) { cluster.senders[id] = nil }
    checkMarkers()
    checkPairs(model.truth, "the log")
  }

  /// Checks that a log holds what belongs to its shard alone.
  private func checkPlaces(of entries: [LogEntry], in shard: Int) {
    for entry in entries {
      let isOfTree = TreeRecord(entry.record) != nil
      let isOfDocuments = !isOfTree && DocumentRecord(entry.record) != nil
      if shard == 0 ? isOfDocuments : isOfTree {
        disagree("v\(entry.version) of shard \(shard) belongs to another one")
      }
    }
  }

  /// Checks that a node's copy is a prefix of the log.
  func checkCopy(of process: NodeProcess, _ cluster: SimulatedCluster) {
    guard disagreements.isEmpty, let copy = process.ledger.copy else { return }
    do throws(LedgerError) {
      guard case .copy(let mark) = try EmbeddedLedger.replicaState(of: process.store),
        mark != process.compared
      else { return }
      process.compared = mark
      cluster.comparisons += 1
      cluster.summary.comparisons += 1
      let log = cluster.logs[process.node.shard]
      guard let batch = log.batch(at: mark.position) else {
        return disagree("\(process.name) has position \(mark.position), which nobody appended")
      }
      if let id = mark.id, id != batch.id {
        return disagree("\(process.name) has another batch at position \(mark.position)")
      }
      try compare(copy, of: process, at: batch.version)
      // Reading all documents takes long.
      if process.node.shard == cluster.logs.count - 1, batch.version == log.version,
        cluster.comparisons.isMultiple(of: 8)
      {
        try compareStored(documents.histories.keys.sorted(), copy)
      }
    } catch {
      trace.note("the copy of \(process.name) cannot be read: \(error)")
    }
  }

  private func compare(
    _ copy: EmbeddedLedger, of process: NodeProcess, at expected: Version
  ) throws(LedgerError) {
    let (name, prefix) = (process.name, process.node.shard == 0 ? model.prefix : nil)
    let (version, tree) = try copy.read { snapshot throws(StorageError) in
      let tree = try prefix.map { prefix throws(StorageError) in
        try TreeRows(prefix: prefix).node(at: .root, in: snapshot)
      }
      return (snapshot.version, tree)
    }
    if version != expected {
      return disagree("\(name) is at v\(version), the log at that position at v\(expected)")
    }
    if let tree, tree != model.states[Int(version)] {
      disagree("\(name) stores \(tree) at v\(version), the log says \(model.states[Int(version)])")
    }
  }

  /// The parts of a cluster that are not at rest.
  func unrest(of cluster: SimulatedCluster) -> [String] {
    var unrest: [String] = []
    for shard in cluster.logs.indices
    where !cluster.serving.contains(where: { $0.node.shard == shard }) {
      unrest.append("no node leads shard \(shard)")
    }
    for node in cluster.nodes {
      guard let process = node.process else {
        unrest.append("node \(node.index) is down")
        continue
      }
      let standing = process.ledger.standing
      if standing.position < cluster.logs[node.shard].position {
        unrest.append("\(process.name): \(standing)")
      }
      if let host = process.host, host.service == .none {
        unrest.append("\(process.name) serves nobody")
      }
    }
    return unrest
  }

  /// Checks that all nodes of a shard have the same rows at rest.
  func compareNodes() {
    guard let cluster else { return }
    for shard in cluster.logs.indices {
      compare(cluster.running.filter { $0.node.shard == shard }, of: shard, cluster)
    }
    var tables = cluster.memory.tables
    cluster.summary.oldest = tables.open(ShardID(0)).oldest.number
  }

  private func compare(_ nodes: [NodeProcess], of shard: Int, _ cluster: SimulatedCluster) {
    var first: (rows: [Row], version: Version)?
    for process in nodes {
      do throws(LedgerError) {
        guard let copy = process.ledger.copy else {
          disagree("\(process.name) ends without a copy")
          continue
        }
        if shard == cluster.logs.count - 1 {
          try compareStored(documents.histories.keys.sorted(), copy)
        }
        let found = try copy.read { snapshot throws(StorageError) in
          let range = KeyRange(from: [LedgerLimits.firstOwnByte])
          return (rows: try snapshot.scan(range), version: snapshot.version)
        }
        if let first, first != found {
          disagree("\(process.name) ends with other rows than \(nodes[0].name)")
        }
        first = first ?? found
      } catch {
        disagree("the copy of \(process.name) cannot be read: \(error)")
      }
    }
  }
}
