import Synchronization
import TernTransport

/// Counts the memory of frames that are not whole, over all links of one transport.
///
/// One link's is bounded by the frame limit; many that each announce a long frame and never end it
/// would take as much as there is.
final class FrameLoad: Sendable {
  /// The most bytes of all links together, whatever the budget allows.
  private let limitBytes: Int
  /// Bounds what the program holds for clients altogether; `nil` for a client's own links.
  private let budget: MemoryBudget?
  /// The bytes counted in now. It changes together with the charge of the budget.
  private let bytes = Mutex(0)

  init(limitBytes: Int, budget: MemoryBudget? = nil) {
    self.limitBytes = limitBytes
    self.budget = budget
  }

  /// Counts memory in, or out again.
  ///
  /// - Parameters:
  ///   - count: The change in bytes; negative to count out, which always succeeds.
  ///   - address: The address of the link's peer, without its port.
  /// - Returns: `false` when the address holds more than its share; the memory is counted all the
  ///   same, and the link is to be slowed.
  /// - Throws: ``LinkClosure/overloaded(limitBytes:)`` when that is too much; then nothing changes.
  func change(by count: Int, for address: String) throws(LinkClosure) -> Bool {
    if count < 0 {
      release(-count, for: address)
      return true
    }
    var isInShare = true
    if let budget, !budget.charge(count, .receiving, to: address) {
      // A refused charge has two reasons. A total that is used up ends the link; an address
      // above its share is only slowed, because its frame may still end and free the memory.
      if budget.usedBytes + count > budget.limitBytes - budget.reservedBytes {
        throw .overloaded(limitBytes: budget.limitBytes)
      }
      budget.count(count, .receiving, to: address)
      isInShare = false
    }
    let fits = bytes.withLock { bytes in
      guard bytes + count <= limitBytes else { return false }
      bytes += count
      return true
    }
    if fits { return isInShare }
    budget?.release(count, .receiving, of: address)
    throw .overloaded(limitBytes: limitBytes)
  }

  /// The most memory of one address, or of the transport where there is no budget.
  var shareBytes: Int { budget?.addressBytes ?? limitBytes }

  /// Returns `true` if clients at an address may hold more memory.
  func hasSpace(for address: String) -> Bool {
    budget.map { $0.roomBytes(for: address) > 0 } ?? true
  }

  /// Counts memory out that a link does not need any more.
  func release(_ count: Int, for address: String) {
    bytes.withLock { $0 -= count }
    budget?.release(count, .receiving, of: address)
  }
}
