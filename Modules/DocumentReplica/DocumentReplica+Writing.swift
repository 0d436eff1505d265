package import TernCore
import TernQuery

// Writes on their way to the server. Source: documents reference, sections 4.8 and 5.15.
extension DocumentReplica {
  /// Sends what was pending when the cache was opened. Called once, before anything else.
  package mutating func start() -> [DocumentEffect] {
    fillPipeline()
    return settlePendingSnapshots()
  }

  /// The number of batches that are being sent or await their acknowledgement.
  package var batchesInFlight: Int { pipeline.inFlight.count }

  /// Shows a batch that is queued, and sends it when its turn comes.
  package mutating func plan(_ batch: DocumentBatch) -> [DocumentEffect] {
    emit(cache.write(batch).sortedByKey)
    fillPipeline()
    return settlePendingSnapshots()
  }

  /// The server has accepted a batch.
  ///
  /// - Parameters:
  ///   - version: The version of the commit.
  ///   - results: One for each write of the batch.
  package mutating func acknowledge(
    _ batch: UInt64, version: DocumentVersion, results: [DocumentWriteResult]
  ) -> [DocumentEffect] {
    settle(batch, nil) { $0.acknowledge(batch, version: version, results: results) }
  }

  /// The server has rejected a batch; what it showed is taken back.
  package mutating func reject(_ batch: UInt64, _ status: DocumentStatus) -> [DocumentEffect] {
    settle(batch, status) { $0.reject(batch) }
  }

  private mutating func settle(
    _ batch: UInt64, _ status: DocumentStatus?,
    _ change: (inout DocumentCache) -> [DocumentKey: Document]
  ) -> [DocumentEffect] {
    pipeline.remove(batch)
    let changed = change(&cache)
    emit(.settled(batch: batch, status))
    // A batch that could not be queued ends before those that wait in front of it.
    let first = cache.batches.first?.id ?? .max
    for wait in waits.settle(before: first) { emit(.writesSettled(wait, isCancelled: false)) }
    emit(changed.sortedByKey, takesBack: status != nil)
    fillPipeline()
    return settlePendingSnapshots()
  }

  /// Waits until everything that is pending now is settled, one way or the other.
  package mutating func waitForPendingWrites() -> (
    id: DocumentWaitID, effects: [DocumentEffect]
  ) {
    let id = DocumentWaitID(number: nextNumber())
    if let last = cache.batches.last {
      waits.add(id, until: last.id)
    } else {
      emit(.writesSettled(id, isCancelled: false))
    }
    return (id, settlePendingSnapshots())
  }

  /// Takes batches from the queue and sends them, or opens the stream they need.
  mutating func fillPipeline() {
    guard isNetworkEnabled else { return }
    pipeline.send(from: cache.batches, depth: limits.pipelineDepth, &pendingEffects)
  }

  /// The write stream is open and the server has answered the greeting.
  package mutating func writeStreamOpened() -> [DocumentEffect] {
    guard pipeline.noteOpened(&pendingEffects) else { return [] }
    fillPipeline()
    return settlePendingSnapshots()
  }

  /// The write stream has ended, or could not be opened.
  ///
  /// - Parameter status: Why; `nil` when nothing failed.
  package mutating func writeStreamClosed(_ status: DocumentStatus?) -> [DocumentEffect] {
    let wasOpen = pipeline.noteClosed()
    if wasOpen, let status, status.code.rejectsWrite, let head = pipeline.inFlight.first {
      return reject(head.id, status)
    }
    fillPipeline()
    return settlePendingSnapshots()
  }
}

// MARK: The application's wishes

extension DocumentReplica {
  /// Stops or resumes all traffic. Source: documents reference, sections 4.9 and 4.10.
  package mutating func setNetwork(isEnabled: Bool) -> [DocumentEffect] {
    guard isEnabled != isNetworkEnabled else { return [] }
    if isEnabled { resumeTraffic() } else { stopTraffic(.offline) }
    return settlePendingSnapshots()
  }

  private mutating func stopTraffic(_ state: DocumentOnlineState) {
    watch.isNetworkEnabled = false
    watch.stop(&pendingEffects)
    pipeline.stop(&pendingEffects)
    track { $0.set(state) }
  }

  private mutating func resumeTraffic() {
    watch.isNetworkEnabled = true
    if wanted.isEmpty { track { $0.set(.unknown) } } else { startWatching() }
    fillPipeline()
  }

  /// Switches to another user: that user's writes replace the former user's, and the server's
  /// result may differ.
  ///
  /// - Parameter batches: Those of the user that the cache does not know yet.
  package mutating func switchUser(
    to user: String, restoring batches: [DocumentBatch] = []
  ) -> [DocumentEffect] {
    let wasEnabled = isNetworkEnabled
    stopTraffic(.unknown)
    for wait in waits.removeAll() { emit(.writesSettled(wait, isCancelled: true)) }
    cache.restore(batches)
    emit(cache.switchUser(to: user).sortedByKey, takesBack: true)
    if wasEnabled { resumeTraffic() } else { track { $0.set(.offline) } }
    return settlePendingSnapshots()
  }

  /// Takes in documents that came in a bundle.
  package mutating func load(_ bundle: DocumentBundle) -> [DocumentEffect] {
    if cache.hasBundle(bundle.metadata) { return [] }
    // Of what the server is asked for it knows better.
    let (changed, results) = cache.load(bundle, sparing: Set(wanted.keys))
    for target in results {
      guard queries.isServing(target) else { continue }
      queries.adopt(cache.remoteKeys(of: target), of: target)
    }
    emit(changed.sortedByKey)
    return settlePendingSnapshots()
  }

  /// Returns the current local state of one document.
  package mutating func document(_ key: DocumentKey) -> Document { cache.document(key) }
}
