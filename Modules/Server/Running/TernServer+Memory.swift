import Dispatch
import TernTransport

// Output is counted when it stays unsent, and closed down when memory is short.
// Source: Docs/Decisions/0022-one-memory-budget.md.
extension TernServer {
  /// Counts what a link was sent and has not taken.
  ///
  /// - Parameters:
  ///   - parcels: The frames it was sent just now.
  ///   - queued: The bytes it has not taken, these included.
  func count(_ parcels: [OutgoingBatch], _ queued: Int, _ state: LinkState) {
    for parcel in parcels {
      state.sentBytes += parcel.bytes
      state.unsent.append((state.sentBytes, parcel.charge(to: budget)))
    }
    settle(state, queued)
    if !state.unsent.isEmpty { unsentSlots.insert(state.slot) }
  }

  /// Looks again at how much of its output a link has taken.
  func recount(_ state: LinkState) {
    if state.unsent.isEmpty { return }
    settle(state, state.link.queuedBytes)
    if state.unsent.isEmpty { unsentSlots.remove(state.slot) }
  }

  /// Releases what a link has taken of its output.
  private func settle(_ state: LinkState, _ queued: Int) {
    if queued == 0 {
      state.unsent = []
      state.sentBytes = 0
      return
    }
    let taken = state.sentBytes - queued
    let count = state.unsent.prefix { $0.end <= taken }.count
    if count > 0 { state.unsent.removeFirst(count) }
  }

  /// Gives memory back to the system, once clients hold much less than before: the C library keeps
  /// what is free between pieces that are not.
  func returnMemory() {
    peakBytes = max(peakBytes, budget.takePeak())
    guard peakBytes - budget.usedBytes > Self.trimmedBytes else { return }
    peakBytes = 0
    preparer.async { SystemAllocator.returnFreeMemory() }
  }

  /// Less than this is not worth the time.
  private static let trimmedBytes = 32 << 20

  /// Looks again at all output that waited.
  func recountOutput() {
    for slot in unsentSlots.sorted() {
      if let state = link(in: slot) { recount(state) }
    }
  }

  /// Links that leave no more unread are not the cause when memory is short.
  var leastUnreadBytes: Int { budget.floorBytes / 4 }

  /// Slows links that leave output unread when little memory is left, and ends them when memory is
  /// short until it is not any more: at the address or of the user that leaves most, the link that
  /// leaves most.
  func makeRoom() {
    recountOutput()
    guard budget.isTight else { return }
    var addresses: [String: Int] = [:]
    var users: [String: Int] = [:]
    var candidates: [(state: LinkState, bytes: Int)] = []
    for slot in unsentSlots.sorted() {
      guard let state = link(in: slot), state.reason == nil else { continue }
      let bytes = state.link.queuedBytes
      // Small clients are not the cause.
      guard bytes > leastUnreadBytes else { continue }
      candidates.append((state, bytes))
      addresses[state.address, default: 0] += bytes
      if let user = state.user { users[user, default: 0] += bytes }
      slow(state)
    }
    while budget.isShort, !candidates.isEmpty {
      let greediest = candidates.indices.max { left, right in
        let sums = [left, right].map { index in
          let state = candidates[index].state
          return max(
            addresses[state.address, default: 0], state.user.map { users[$0, default: 0] } ?? 0)
        }
        return (sums[0], candidates[left].bytes) < (sums[1], candidates[right].bytes)
      }
      guard let greediest else { return }
      let (state, bytes) = candidates.remove(at: greediest)
      addresses[state.address, default: 0] -= bytes
      if let user = state.user { users[user, default: 0] -= bytes }
      state.reason = .outOfMemory(queuedBytes: bytes)
      state.unsent = []
      state.link.abort()
    }
  }
}
