import TernCore
import TernDocumentReplica
package import TernSync

// Who uses the device. Each user's writes are queued and numbered apart, shown to them alone, and
// sent with no token but theirs. Source: documents reference, sections 3.7 and 5.15.

extension DocumentMachine {
  /// Switches to another user, or none: their writes take the place of the former user's, which
  /// wait for their return, and everything is requested anew.
  ///
  /// - Parameters:
  ///   - credential: What shows the server who it is.
  ///   - opened: What their queue holds; `nil` when it was opened before in this run, and a
  ///     failure when it does not open: then what they write is not taken.
  /// - Returns: Why their queue makes no sense.
  package mutating func switchUser(
    to user: QueueUser, showing credential: String?, _ opened: Result<OpenedQueue, QueueError>?
  ) -> QueueError? {
    guard user != self.user else {
      setCredential(credential)
      return nil
    }
    self.credential = credential
    refusedCredential = nil
    // Nothing of the former user's may meet the credential of the next one on this link.
    leaveLink()
    failCallsOfFormerUser()
    rest()
    var failure: QueueError?
    writes.streamEnded()
    former[self.user] = writes
    self.user = user
    var found: (book: OutboundWrites, batches: [DocumentBatch])?
    do throws(QueueError) {
      if let queue = try opened?.get() { found = try read(queue, of: user) }
    } catch {
      failure = error
    }
    let known = former.removeValue(forKey: user)
    // Without a queue there is nothing to send, and nothing is taken.
    writes = (opened == nil ? known : found?.book) ?? OutboundWrites()
    run(replica.switchUser(to: user.id, restoring: found?.batches ?? []))
    emit(.queueChanged)
    return failure
  }

  /// Restores the queues of other users: the documents they have written must stay cached.
  ///
  /// - Returns: Whose queue cannot be read or makes no sense, and why.
  package mutating func restore(
    others: [(user: QueueUser, queue: Result<OpenedQueue, QueueError>)]
  ) -> [(user: QueueUser, failure: QueueError)] {
    knowsAllUsers = true
    var failures: [(user: QueueUser, failure: QueueError)] = []
    for (user, opened) in others where user != self.user && former[user] == nil {
      do throws(QueueError) {
        let (book, batches) = try read(try opened.get(), of: user)
        former[user] = book
        replica.cache.restore(batches)
      } catch {
        failures.append((user, error))
      }
    }
    _ = replica.cache.evict()
    return failures
  }

  private mutating func read(
    _ queue: OpenedQueue, of user: QueueUser
  ) throws(QueueError) -> (book: OutboundWrites, batches: [DocumentBatch]) {
    let (pending, rejected) = try DocumentBatchRecord.batches(
      in: queue.rows, of: user, database, after: writeNames.lastBatch)
    var book = OutboundWrites(stream: queue.client, nextSequence: queue.nextSequence)
    for queued in pending {
      book.restore(queued)
      writeNames.note(batch: queued.batch.id)
    }
    for batch in rejected { book.restore(batch) }
    return (book, pending.map(\.batch))
  }

  /// Clears pauses that belonged to the former user.
  private mutating func rest() {
    listening.isResting = false
    listening.backoff.reset()
    writing.isResting = false
    writing.backoff.reset()
    emit(.stopTimer(.listenRetry))
    emit(.stopTimer(.writeRetry))
  }

  /// Does something with the writes of a user.
  mutating func withBook(of owner: QueueUser, _ body: (inout OutboundWrites) -> Void) {
    if owner == user { return body(&writes) }
    guard var book = former.removeValue(forKey: owner) else { return }
    body(&book)
    former[owner] = book
  }
}
