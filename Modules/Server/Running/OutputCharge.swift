import TernTransport

/// Counts bytes that wait to be sent, once for all links that have them, until the last of those
/// has sent them or has ended.
final class OutputCharge {
  private let bytes: Int
  private let budget: MemoryBudget

  init(_ bytes: Int, _ budget: MemoryBudget) {
    self.bytes = bytes
    self.budget = budget
    budget.count(bytes, .output, to: nil)
  }

  deinit { budget.release(bytes, .output, of: nil) }
}
