import TernStorage
import TernSync

// What may be asked of the queue.

extension DocumentSession {
  /// Gives a rejected batch up.
  func discard(row: UInt64, _ answer: @escaping @Sendable (QueueResult) -> Void) {
    drain()
    guard !isClosed else { return answer(.failed(.storage(.closed))) }
    discards[row, default: []].append(answer)
    machine.discard(row: row)
    carryOut()
  }

  /// The queue has answered the first of those who gave a batch up.
  func discarded(_ row: UInt64, _ result: QueueResult) {
    guard var waiting = discards.removeValue(forKey: row) else { return }
    let answer = waiting.removeFirst()
    if !waiting.isEmpty { discards[row] = waiting }
    answer(result)
  }
}
