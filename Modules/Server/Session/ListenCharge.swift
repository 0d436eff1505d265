import TernTransport

/// The memory charged for listens to an address and a user, until it is released or the object
/// goes.
///
/// Lives and is used inside the machine only.
final class ListenCharge {
  private let budget: MemoryBudget
  private let address: String
  /// The user who is charged, too; `nil` for clients that have proved no identity.
  private(set) var user: String?
  private(set) var bytes = 0

  init(_ budget: MemoryBudget, address: String, user: String? = nil) {
    self.budget = budget
    self.address = address
    self.user = user
  }

  deinit { budget.release(bytes, .listens, of: address, user: user) }

  /// The most memory that all clients together may take, in bytes.
  var limitBytes: Int { budget.limitBytes }

  /// A charge of nothing yet to the same address and user.
  func another() -> ListenCharge { ListenCharge(budget, address: address, user: user) }

  /// Returns true when the shares of the address and the user would allow more, so that it is the
  /// memory of all clients together that has no room.
  func isWithinShare(adding count: Int) -> Bool {
    budget.usedBytes(of: address) + count <= budget.addressBytes
      && (user.map { budget.usedBytes(ofUser: $0) + count <= budget.identityBytes } ?? true)
  }

  /// The bytes that could be charged now at the most.
  var roomBytes: Int { budget.roomBytes(for: address, user: user) }

  /// Charges more.
  ///
  /// - Returns: `false`, and nothing more is charged, when a share or the budget do not allow it.
  func add(_ count: Int) -> Bool {
    guard budget.charge(count, .listens, to: address, user: user) else { return false }
    bytes += count
    return true
  }

  /// Releases a part.
  func remove(_ count: Int) {
    budget.release(count, .listens, of: address, user: user)
    bytes -= count
  }

  /// Charges another user: the session has proved another identity.
  ///
  /// - Returns: Whether the new user is within its share.
  func transfer(to newUser: String?) -> Bool {
    defer { user = newUser }
    return budget.transfer(bytes, from: user, to: newUser)
  }
}
