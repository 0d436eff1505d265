import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernStorage

/// The delivery of commits to the watchers of documents.
extension DocumentListens {
  /// So many comparisons with watched queries are not counted as work: most commits need few.
  private static let freeMatches = 256

  /// Sends the effects of a commit to all watchers.
  ///
  /// A change is encoded once for each query; calls of one number with targets of one name, as
  /// clients of one kind have them, even share the frame.
  func fanOut(
    _ decision: DocumentDecision, in database: OpenDatabase, _ batch: inout ServerBatch
  ) throws(StorageError) {
    if decision.changes.isEmpty { return }
    database.bodies = [:]
    try ListenReview(listens: self).endDependents(on: decision.changes.map(\.key), database, &batch)
    let matches = database.watch.matchCount
    let deliveries = try database.watch.commit(decision, in: batch.reader)
    // What many queries cost is the writer's to pay, as its other work is.
    batch.spend(max(0, database.watch.matchCount - matches - Self.freeMatches))
    for delivery in deliveries {
      try ListenReview(listens: self).endDenied(delivery, database, &batch)
      let addresses = addresses(of: delivery.group)
      let showsAll = addresses.askers.allSatisfy {
        judge.allowsEverything($0.requester(in: database), database)
      }
      for told in delivery.changes {
        let change = showsAll ? told : told.withoutDeparted(at: decision.version)
        let push = DocumentPush(change, database.names)
        for address in addresses.shared {
          var isNew = true
          let slots = batch.admit(address.slots, toPushOf: push.byteCount, isNew: &isNew)
          if slots.isEmpty { continue }
          let frame = DocumentServerFrame.message(
            stream: address.call, push.message(for: address.target))
          batch.metrics.documentEvents += slots.count
          batch.add(.broadcast(slots: slots, frame.encode()))
        }
      }
      if delivery.isLast {
        for stream in addresses.streams { registry.emit(stream) }
      } else {
        registry.emit(addresses, of: delivery.group, in: database)
      }
    }
    for group in database.watch.takeGrown() { charge(group, database, &batch) }
  }

  /// Charges the subscribers of a group for what its window has grown by, and ends the targets of
  /// those that may hold no more.
  ///
  /// Every subscriber is charged for the whole window: each of them alone would keep it in memory.
  private func charge(
    _ group: WatchGroup, _ database: OpenDatabase, _ batch: inout ServerBatch
  ) {
    let more = DocumentWeight.bytes(ofWindow: group.heldCount - group.chargedCount)
    if more <= 0 { return }
    group.chargedCount = group.heldCount
    for subscriber in group.subscribers {
      guard let call = registry.streams[subscriber.stream],
        !call.chargeMore(more, for: subscriber.target)
      else { continue }
      database.unlisten(subscriber.target, on: subscriber.stream)
      refuse(subscriber.target, Self.tooManyTargets, call, &batch)
    }
  }

  /// Returns the addresses of a group's subscribers; computed anew when they have changed.
  func addresses(of group: WatchGroup) -> WatchAddresses {
    if let known = group.notes as? WatchAddresses { return known }
    let addresses = WatchAddresses(group.subscribers, registry.streams)
    group.notes = addresses
    return addresses
  }
}
