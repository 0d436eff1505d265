import TernCommitLog
import TernCore
import TernLedger
import TernLogMemory
import TernQuery
import TernSharedLedger
import TernStorage
import TernTreeRows

extension SimulatedWorld {
  /// Takes in what is new in the shared log, before it may be cut.
  func followLog(_ cluster: SimulatedCluster) {
    do throws(CommitLogError) {
      let tables = cluster.memory.tables
      guard tables.openShards.contains(SimulatedCluster.shard) else { return }
      let batches = try tables.batches(
        in: SimulatedCluster.shard, after: LogPosition(cluster.log.position), limit: .max)
      for batch in batches { follow(batch, cluster) }
    } catch {
      disagree("the shared log was cut before it was looked at: \(error)")
    }
    for process in cluster.running + cluster.dying {
      for append in process.log.takeConfirmations() {
        for words in cluster.log.confirm(append, to: process.name) { disagree(words) }
      }
    }
  }

  private func follow(_ batch: LogBatch, _ cluster: SimulatedCluster) {
    cluster.summary.batches += 1
    let (entries, wrong) = cluster.log.add(batch)
    for words in wrong { disagree(words) }
    if entries.isEmpty { return }
    for words in model.follow(entries, at: clock.now, from: cluster.senders) { disagree(words) }
    for words in documents.follow(entries).wrong { disagree("the log of documents: \(words)") }
    for case let id? in entries.map(\.id) { cluster.senders[id] = nil }
    checkMarkers()
    checkPairs(model.truth, "the log")
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
      guard let batch = cluster.log.batch(at: mark.position) else {
        return disagree("\(process.name) has position \(mark.position), which nobody appended")
      }
      if let id = mark.id, id != batch.id {
        return disagree("\(process.name) has another batch at position \(mark.position)")
      }
      try compare(copy, of: process.name, at: batch.version)
      // Reading all documents takes long.
      if batch.version == model.version, cluster.comparisons.isMultiple(of: 8) {
        try compareStored(documents.histories.keys.sorted(), copy)
      }
    } catch {
      trace.note("the copy of \(process.name) cannot be read: \(error)")
    }
  }

  private func compare(
    _ copy: EmbeddedLedger, of name: String, at expected: Version
  ) throws(LedgerError) {
    let prefix = model.prefix
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
    var unrest = cluster.serving.isEmpty ? ["no node leads"] : []
    for node in cluster.nodes {
      guard let process = node.process else {
        unrest.append("node \(node.index) is down")
        continue
      }
      let standing = process.ledger.standing
      if standing.position < cluster.log.position { unrest.append("\(process.name): \(standing)") }
    }
    return unrest
  }

  /// Checks that all nodes have the same rows at rest.
  func compareNodes() {
    guard let cluster else { return }
    var first: (rows: [Row], version: Version)?
    for process in cluster.running {
      do throws(LedgerError) {
        guard let copy = process.ledger.copy else {
          disagree("\(process.name) ends without a copy")
          continue
        }
        try compareStored(documents.histories.keys.sorted(), copy)
        let found = try copy.read { snapshot throws(StorageError) in
          let range = KeyRange(from: [LedgerLimits.firstOwnByte])
          return (rows: try snapshot.scan(range), version: snapshot.version)
        }
        if let first, first != found {
          disagree("\(process.name) ends with other rows than \(cluster.running[0].name)")
        }
        first = first ?? found
      } catch {
        disagree("the copy of \(process.name) cannot be read: \(error)")
      }
    }
    var tables = cluster.memory.tables
    cluster.summary.oldest = tables.open(SimulatedCluster.shard).oldest.number
  }
}
