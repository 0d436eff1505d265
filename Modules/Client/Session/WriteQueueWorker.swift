import TernSync

/// One change on its way to the durable queue, and who waits for the answer.
package struct QueueJob: Sendable {
  let ticket: UInt64
  let change: QueueChange
  /// The user of the queue.
  let user: QueueUser
  let owner: any QueueOwner
}

/// The receiver of a durable queue's answers.
protocol QueueOwner: Sendable {
  /// Takes the answers, in order; does not wait.
  func queueAnswered(_ answers: [(ticket: UInt64, result: QueueResult)])
}

/// The durable queues on their worker: what waits for one shares a transaction, answers come in
/// order.
struct WriteQueueWorker: Sendable {
  let place: SerialWorkQueue<QueueJob>.Place
  private let work: SerialWorkQueue<QueueJob>
  private let shelf: WriteQueueRegistry

  init(_ shelf: WriteQueueRegistry, place: SerialWorkQueue<QueueJob>.Place) {
    self.place = place
    self.shelf = shelf
    work = SerialWorkQueue(place, label: "tern.queue") { jobs in
      let results = shelf.apply(jobs.map { ($0.user, $0.change) })
      let answers = zip(jobs, results).map { (ticket: $0.ticket, result: $1) }
      jobs.first?.owner.queueAnswered(answers)
    }
  }

  func submit(_ jobs: [QueueJob]) { work.submit(contentsOf: jobs) }

  /// Waits until what was submitted before is on the disk.
  func settled() async { await work.settled() }

  /// Opens the queue of a user; blocks while the disk is at work.
  ///
  /// - Returns: What it holds; `nil` when it is open already. When it cannot be opened, changes of
  ///   it fail with the same error from now on.
  func opened(for user: QueueUser) -> Result<OpenedQueue, QueueError>? {
    do throws(QueueError) { return try shelf.open(user).map { .success($0) } } catch {
      return .failure(error)
    }
  }

  /// Lets all changes of a user's queue fail, until it is opened again.
  func refuse(_ user: QueueUser, because error: QueueError) { shelf.refuse(user, error) }

  /// Opens the queues of all users that are not open, and says what they hold, or why they cannot.
  func openOthers() -> [(user: QueueUser, queue: Result<OpenedQueue, QueueError>)] {
    shelf.openOthers()
  }
}
