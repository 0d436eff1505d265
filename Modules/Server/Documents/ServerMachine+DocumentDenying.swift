import TernCore
import TernDocumentEngine
import TernQuery
import TernSecurity
import TernStorage

// What was allowed when somebody began to watch may not be any more when there is something to
// tell: rules look at the time, and at other documents.
extension ServerMachine {
  /// Ends the targets of those who may not have what a commit would tell them.
  ///
  /// Each of those who ask is judged once, however many targets they have.
  func endDenied(
    _ delivery: WatchDelivery, _ room: DocumentRoom, _ batch: inout ServerBatch
  ) throws(StorageError) {
    let accesses = ServerMachine.accesses(delivery)
    if accesses.isEmpty { return }
    for asker in addresses(of: delivery.group).askers {
      let status: DocumentStatus
      do throws(StorageError) {
        if try allows(accesses, asker.requester(in: room), room, batch) { continue }
        status = Self.denied
      } catch {
        status = try DocumentStatus(damage: error)
      }
      for subscriber in asker.subscribers {
        room.watch.unlisten(subscriber.target, on: subscriber.stream)
        guard let call = documents.streams[subscriber.stream] else { continue }
        refuse(subscriber.target, status, call, &batch)
      }
    }
  }

  /// What those who are told something read by it; nothing when they are told that it is over.
  private static func accesses(_ delivery: WatchDelivery) -> [DocumentAccess] {
    switch delivery.group.subject {
    case .query(let target):
      return delivery.isLast ? [] : [.list(DocumentQuery(target))]
    case .documents:
      return delivery.changes.compactMap { change in
        switch change {
        case .changed(let document, _, _): .get(document)
        case .deleted(let key, _, _), .removed(let key, _, _): .get(Document(key, .missing))
        case .target, .filter: nil
        }
      }
    }
  }
}
