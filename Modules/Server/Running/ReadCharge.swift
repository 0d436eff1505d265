import Synchronization
import TernTransport

/// The memory charged for one read to an address and a user, until the object goes.
final class ReadCharge: Sendable {
  private let budget: MemoryBudget
  private let address: String
  private let user: String?
  private let bytes = Mutex(0)

  init(_ budget: MemoryBudget, address: String, user: String?) {
    self.budget = budget
    self.address = address
    self.user = user
  }

  deinit { budget.release(bytes.withLock { $0 }, .answers, of: address, user: user) }

  /// Charges more.
  ///
  /// - Returns: `false`, and nothing more is charged, when a share or the budget do not allow it.
  func add(_ count: Int) -> Bool {
    guard budget.charge(count, .answers, to: address, user: user) else { return false }
    bytes.withLock { $0 += count }
    return true
  }

  /// Charges so much in the place of what is charged.
  ///
  /// - Returns: `false`, and nothing changes, when a share or the budget do not allow it.
  func replace(with count: Int) -> Bool {
    let more = count - bytes.withLock { $0 }
    if more > 0 { return add(more) }
    reduce(to: count)
    return true
  }

  /// Returns true when an address and a user that hold nothing else could be charged so much.
  func couldHold(_ count: Int) -> Bool {
    count <= budget.addressBytes && (user == nil || count <= budget.identityBytes)
  }

  /// Releases some of what is charged.
  func release(_ count: Int) { reduce(to: max(0, bytes.withLock { $0 } - count)) }

  /// Releases what is charged beyond `count`.
  func reduce(to count: Int) {
    let surplus = bytes.withLock { bytes in
      let surplus = max(0, bytes - count)
      bytes -= surplus
      return surplus
    }
    budget.release(surplus, .answers, of: address, user: user)
  }
}
