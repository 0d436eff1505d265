import Dispatch
import TernTransport

/// Keeps the memory of links within its budget: counts output that stays unsent, slows clients
/// above their share, and closes connections for which that does not help. Lives and is used on the
/// server's executor only.
///
/// Source: Docs/Decisions/0022-one-memory-budget.md.
final class MemoryGuard {
  private let links: LinkTable
  private let budget: MemoryBudget
  private let limits: ServerLimits
  private let uptime: @Sendable () -> Int64
  /// The queue on which free memory is given back.
  private let queue: DispatchQueue
  /// The slots of links that have not taken everything they were sent.
  private var unsent: Set<Int> = []
  /// The slots of links that are not read from until their clients hold less.
  private var slowed: Set<Int> = []
  /// The uptime of the last look at these.
  private var slowedReview: Int64 = 0
  private var trim = MemoryTrim()

  init(
    _ links: LinkTable, _ budget: MemoryBudget, _ limits: ServerLimits, on queue: DispatchQueue,
    uptime: @escaping @Sendable () -> Int64
  ) {
    self.links = links
    self.budget = budget
    self.limits = limits
    self.queue = queue
    self.uptime = uptime
  }

  /// The number of links that are not read from.
  var slowedCount: Int { slowed.count }

  /// The number of links with output that they have not taken.
  var unsentCount: Int { unsent.count }

  /// Gives memory back to the system, once clients hold less than before: the C library keeps what
  /// is free between pieces that are not.
  func returnMemory() {
    let recentBytes = budget.takePeak()
    guard trim.isDue(usedBytes: budget.usedBytes, recentBytes: recentBytes) else { return }
    queue.async { SystemAllocator.returnFreeMemory() }
  }

  /// Releases the frames that were decided, counts how long they took, and reads again from links
  /// that were waited for.
  func release(
    _ decided: [ServerInput], _ metrics: ServerMetrics, _ microseconds: @Sendable () -> Int64
  ) {
    var now: Int64?
    for input in decided {
      let bytes = input.frameBytes
      guard bytes > 0, let slot = input.slot, let state = links.known(slot) else { continue }
      if let arrival = state.arrivals.next() {
        let time = now ?? microseconds()
        now = time
        if case .frame(_, let frame) = input, DocumentLink.begins(with: frame) {
          metrics.documentTime.record(Int(time - arrival))
        } else {
          metrics.treeTime.record(Int(time - arrival))
        }
      }
      release(bytes, of: state)
    }
  }

  /// Releases bytes of a frame that was decided, and reads again from its link if that was waited
  /// for.
  func release(_ bytes: Int, of state: LinkState) {
    state.waitingBytes -= bytes
    budget.release(bytes, .waiting, of: state.address, user: state.user)
    if links[state.slot] === state, state.slowedSince == nil {
      state.readAgain(inboxBytes: limits.inboxBytes)
    }
  }

  /// Forgets a link that has ended.
  func forget(_ state: LinkState) {
    unsent.remove(state.slot)
    slowed.remove(state.slot)
    state.unsent = []
  }
}

// MARK: - Output

extension MemoryGuard {
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
    if !state.unsent.isEmpty { unsent.insert(state.slot) }
  }

  /// Looks again at how much of its output a link has taken.
  func recount(_ state: LinkState) {
    if state.isDirect, state.slowedSince == nil { state.readAgain(inboxBytes: limits.inboxBytes) }
    if state.unsent.isEmpty { return }
    settle(state, state.link.queuedBytes)
    if state.unsent.isEmpty { unsent.remove(state.slot) }
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

  /// Looks again at all output that waited.
  func recountOutput() {
    for slot in unsent.sorted() {
      if let state = links[slot] { recount(state) }
    }
  }

  /// Links that leave no more unread are not the cause when memory is short.
  private var leastUnreadBytes: Int { budget.floorBytes / 4 }

  /// Slows links that leave output unread when little memory is left, and ends them when memory is
  /// short until it is not any more: at the address or of the user that leaves most, the link that
  /// leaves most.
  func makeRoom() {
    recountOutput()
    guard budget.isTight else { return }
    var addresses: [String: Int] = [:]
    var users: [String: Int] = [:]
    var candidates: [(state: LinkState, bytes: Int)] = []
    for slot in unsent.sorted() {
      guard let state = links[slot], state.reason == nil else { continue }
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

// MARK: - Slowing

extension MemoryGuard {
  /// Reads nothing from a link until its client holds less, or its time is over.
  func slow(_ state: LinkState) {
    guard state.slowedSince == nil, state.reason == nil else { return }
    state.slowedSince = uptime()
    slowed.insert(state.slot)
    state.pause()
  }

  /// Returns true when a link is not read from until its client holds less.
  func isSlowed(_ slot: Int) -> Bool { slowed.contains(slot) }

  /// The least time between two looks at the slowed links, in milliseconds.
  private static let reviewPause: Int64 = 100

  /// Returns true when it is time to look at slowed links.
  var isReviewDue: Bool { !slowed.isEmpty && uptime() - slowedReview >= Self.reviewPause }

  /// Reads again from links whose clients hold less than their share.
  ///
  /// - Returns: The links to close: of those that have waited for longer than
  ///   ``ServerLimits/slowedMilliseconds``, the ones that hold most, until what the others hold is
  ///   within the share.
  func reviewSlowed() -> [LinkState] {
    let now = uptime()
    slowedReview = now
    var overdue: [LinkState] = []
    for slot in slowed.sorted() {
      guard let state = links[slot], let since = state.slowedSince, state.reason == nil else {
        slowed.remove(slot)
        continue
      }
      if isWithinShare(state) {
        state.slowedSince = nil
        slowed.remove(slot)
        state.readAgain(inboxBytes: limits.inboxBytes)
      } else if now - since >= limits.slowedMilliseconds {
        overdue.append(state)
      }
    }
    return overShare(overdue)
  }

  private func isWithinShare(_ state: LinkState) -> Bool {
    !leavesTooMuch(state) && budget.roomBytes(for: state.address, user: state.user) > 0
  }

  /// Returns true when memory is scarce, and the link leaves a part of it unread.
  private func leavesTooMuch(_ state: LinkState) -> Bool {
    budget.isTight && state.link.queuedBytes > leastUnreadBytes
  }

  /// Selects the links to close, and forgets that they are slowed.
  private func overShare(_ overdue: [LinkState]) -> [LinkState] {
    let byBytes = overdue.sorted {
      ($0.heldBytes, $1.slot) > ($1.heldBytes, $0.slot)
    }
    // What a closed link held is released later, when its end is decided.
    var given: [String: Int] = [:]
    var chosen: [LinkState] = []
    for state in byBytes {
      let account = state.user ?? state.address
      let surplus = excess(of: state) - given[account, default: 0]
      if surplus < 0, !leavesTooMuch(state) { continue }
      given[account, default: 0] += state.heldBytes
      slowed.remove(state.slot)
      chosen.append(state)
    }
    return chosen
  }

  /// The bytes that the client of a link holds above its share; negative below it.
  private func excess(of state: LinkState) -> Int {
    let ofAddress = budget.usedBytes(of: state.address) - budget.addressBytes
    guard let user = state.user else { return ofAddress }
    return max(ofAddress, budget.usedBytes(ofUser: user) - budget.identityBytes)
  }
}
