import TernDocumentAuthority

/// The first snapshots that are read ahead for a database: the one that is ready first serves all
/// calls that wait for an equal one.
struct PendingPrefetches {
  private struct Waiter {
    weak let call: DocumentCall?
    let job: ReadJob
  }

  private var waiters: [WatchPrefetchID: [Waiter]] = [:]
  private var ids: [ObjectIdentifier: WatchPrefetchID] = [:]

  /// The number of calls and targets that wait.
  var count: Int { ids.count }

  /// Records a read for a target of a call.
  mutating func add(_ job: ReadJob, as id: WatchPrefetchID, of call: DocumentCall) {
    ids[ObjectIdentifier(job)] = id
    waiters[id, default: []].append(Waiter(call: call, job: job))
  }

  /// Forgets a read that is done.
  ///
  /// - Returns: The links of the other calls that wait for an equal one, each once for every
  ///   target, if the read has a result: it takes the place of their own reads, which are ended.
  mutating func finish(_ job: ReadJob) -> [Int] {
    guard let id = ids.removeValue(forKey: ObjectIdentifier(job)) else { return [] }
    guard case .value? = job.outcome else {
      waiters[id]?.removeAll { $0.job === job }
      if waiters[id]?.isEmpty == true { waiters[id] = nil }
      return []
    }
    var slots: [Int] = []
    for waiter in waiters.removeValue(forKey: id) ?? [] where waiter.job !== job {
      ids[ObjectIdentifier(waiter.job)] = nil
      waiter.job.cancel()
      guard let call = waiter.call, call.replace(waiter.job, by: job) else { continue }
      slots.append(call.slot)
    }
    return slots
  }

  /// Forgets a read whose result is no longer wanted.
  mutating func forget(_ job: ReadJob) {
    guard let id = ids.removeValue(forKey: ObjectIdentifier(job)) else { return }
    waiters[id]?.removeAll { $0.job === job }
    if waiters[id]?.isEmpty == true { waiters[id] = nil }
  }
}
