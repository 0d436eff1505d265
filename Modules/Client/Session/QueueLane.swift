import Synchronization
import TernSync

/// One change on its way to the durable queue, and who waits for the answer.
package struct QueueJob: Sendable {
  let ticket: UInt64
  let change: QueueChange
  let owner: any QueueOwner
}

/// Who waits for the answers of a durable queue.
protocol QueueOwner: Sendable {
  /// Takes the answers, in order; does not wait.
  func queueAnswered(_ answers: [(ticket: UInt64, result: QueueResult)])
}

/// The durable queue on its lane: what waits shares a transaction, answers come in order.
struct QueueLane: Sendable {
  let place: DiskLane<QueueJob>.Place
  private let lane: DiskLane<QueueJob>

  init(_ queue: WriteQueue, place: DiskLane<QueueJob>.Place) {
    self.place = place
    let box = QueueBox(queue)
    lane = DiskLane(place, label: "tern.queue") { jobs in
      let results = box.apply(jobs.map(\.change))
      let answers = zip(jobs, results).map { (ticket: $0.ticket, result: $1) }
      jobs.first?.owner.queueAnswered(answers)
    }
  }

  func submit(_ jobs: [QueueJob]) { lane.submit(contentsOf: jobs) }

  /// Waits until what was submitted before is on the disk.
  func settled() async { await lane.settled() }
}

/// Holds the queue for the lane's closure.
private final class QueueBox: Sendable {
  private let queue: Mutex<WriteQueue>

  init(_ queue: WriteQueue) { self.queue = Mutex(queue) }

  func apply(_ changes: [QueueChange]) -> [QueueResult] {
    queue.withLock { $0.apply(changes) }
  }
}
