import Synchronization
package import TernLedger

/// Batches that other nodes have committed, on their way through the server of one that follows.
package final class FollowedBatches: Sendable {
  /// In order.
  package let batches: [EmbeddedLedger.PlacedBatch]
  private let answer: Mutex<CheckedContinuation<Bool, Never>?>

  /// - Parameter answer: Receives whether the copy has applied the batches; once.
  init(_ batches: [EmbeddedLedger.PlacedBatch], answer: CheckedContinuation<Bool, Never>? = nil) {
    self.batches = batches
    self.answer = Mutex(answer)
  }

  deinit { finish(isApplied: false) }

  /// Tells whether the copy has applied the batches.
  func finish(isApplied: Bool) {
    answer.withLock { exchange(&$0, with: nil) }?.resume(returning: isApplied)
  }
}

extension ServerInput {
  /// The batches of other nodes.
  var followed: FollowedBatches? { if case .followed(let batches) = self { batches } else { nil } }
}
