import Synchronization

/// Memory charged to one address for as long as the object lives.
public final class MemoryCharge: Sendable {
  /// The budget it is charged to.
  public let budget: MemoryBudget
  private let use: MemoryBudget.Use
  private let address: String
  private let bytes = Mutex(0)

  /// A charge of nothing yet.
  public init(_ budget: MemoryBudget, _ use: MemoryBudget.Use, of address: String) {
    self.budget = budget
    self.use = use
    self.address = address
  }

  deinit { budget.release(bytes.withLock { $0 }, use, of: address) }

  /// Charges more.
  ///
  /// - Returns: `false`, and nothing more is charged, when the budget does not allow it.
  public func add(_ count: Int) -> Bool {
    guard budget.charge(count, use, to: address) else { return false }
    bytes.withLock { $0 += count }
    return true
  }

  /// Counts memory that is held already.
  public func count(_ count: Int) {
    budget.count(count, use, to: address)
    bytes.withLock { $0 += count }
  }
}
