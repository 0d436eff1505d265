/// Counts connections by address, so that no address takes all places. The networks of IPv6 count
/// as one address each, as they do in `MemoryBudget`.
package struct ConnectionShares: Sendable {
  /// Of an address's share, when few places are left: a sixteenth of all, and no fewer.
  private static let least = 8

  /// The connections of all addresses.
  package private(set) var count = 0
  /// The open connections by address; an address with none has no entry.
  private var accounts: [String: Int] = [:]

  package init() {}

  /// Counts a connection in; `false`, and not counted, when there are too many of all addresses, or
  /// of this one.
  ///
  /// - Parameters:
  ///   - limit: The most connections of all addresses. With three quarters of them taken, an
  ///     address gets no more than a sixteenth.
  ///   - isProxy: True for an address that stands for many clients: it has no share.
  package mutating func enter(_ address: String, limit: Int, isProxy: Bool = false) -> Bool {
    // A proxy is bound by the total as well: only the share of an address does not apply to it.
    guard count < limit, isProxy || isWithinShare(address, limit: limit) else { return false }
    count += 1
    accounts[MemoryBudget.account(of: address), default: 0] += 1
    return true
  }

  /// Returns `true` if an address may have one more place: it has less than its share, or there are
  /// so many left that none has a share.
  package func isWithinShare(_ address: String, limit: Int) -> Bool {
    if count < limit - limit / 4 { return true }
    return accounts[MemoryBudget.account(of: address), default: 0] < max(Self.least, limit / 16)
  }

  /// Counts a connection out.
  ///
  /// Every successful ``enter(_:limit:isProxy:)`` needs exactly one call with the same address.
  package mutating func leave(_ address: String) {
    count -= 1
    let account = MemoryBudget.account(of: address)
    let held = accounts[account, default: 1]
    accounts[account] = held > 1 ? held - 1 : nil
  }
}
