import Synchronization
import TernSync

/// One change on its way to the durable queue, and who waits for the answer.
package struct DocumentQueueJob: Sendable {
  let ticket: UInt64
  let change: QueueChange
  let session: DocumentSession
}

/// The durable queue on its lane: what waits shares a transaction, answers come in order.
struct DocumentQueueLane: Sendable {
  private let lane: DiskLane<DocumentQueueJob>

  init(_ queue: WriteQueue, place: DiskLane<DocumentQueueJob>.Place) {
    let box = Mutex(queue)
    lane = DiskLane(place, label: "tern.documents") { jobs in
      let results = box.withLock { $0.apply(jobs.map(\.change)) }
      let answers = zip(jobs, results).map { (ticket: $0.ticket, result: $1) }
      jobs.first?.session.post(.queueAnswers(answers))
    }
  }

  func submit(_ jobs: [DocumentQueueJob]) { lane.submit(contentsOf: jobs) }

  /// Waits until what was submitted before is on the disk.
  func settled() async { await lane.settled() }
}
