/// Counts connections by address, so that no address takes all places.
package struct ConnectionShares: Sendable {
  /// Of an address's share, when few places are left: a sixteenth of all, and no fewer.
  private static let least = 8

  /// The connections of all addresses.
  package private(set) var count = 0
  /// The open connections by address; an address with none has no entry.
  private var addresses: [String: Int] = [:]

  package init() {}

  /// Counts a connection in; `false`, and not counted, when there are too many of all addresses, or
  /// of this one.
  ///
  /// - Parameters:
  ///   - limit: The most connections of all addresses. With three quarters of them taken, an
  ///     address gets no more than a sixteenth.
  ///   - isProxy: True for an address that stands for many clients: it has no share.
  package mutating func enter(_ address: String, limit: Int, isProxy: Bool = false) -> Bool {
    let held = addresses[address, default: 0]
    // A proxy is bound by the total as well: only the share of an address does not apply to it.
    guard count < limit else { return false }
    if !isProxy, count >= limit - limit / 4, held >= max(Self.least, limit / 16) { return false }
    count += 1
    addresses[address] = held + 1
    return true
  }

  /// Counts a connection out.
  ///
  /// Every successful ``enter(_:limit:isProxy:)`` needs exactly one call with the same address.
  package mutating func leave(_ address: String) {
    count -= 1
    let held = addresses[address, default: 1]
    addresses[address] = held > 1 ? held - 1 : nil
  }
}
