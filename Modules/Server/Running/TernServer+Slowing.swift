import TernTransport

// Clients above their share are not read from; connections for which that does not help are closed.
// Source: Docs/Decisions/0022-one-memory-budget.md.
extension TernServer {
  /// Reads nothing from a link until its client holds less, or its time is over.
  func slow(_ state: LinkState) {
    guard state.slowedSince == nil, state.reason == nil else { return }
    state.slowedSince = uptime()
    slowedSlots.insert(state.slot)
    pause(state)
  }

  /// The least time between two looks at the slowed links, in milliseconds.
  static let slowedReviewPause: Int64 = 100

  /// Reads again from links whose clients hold less than their share, and closes those that have
  /// waited for longer than ``ServerLimits/slowedMilliseconds``, the ones that hold most first,
  /// until what the others hold is within the share.
  func reviewSlowed() {
    let now = uptime()
    slowedReview = now
    var overdue: [LinkState] = []
    for slot in slowedSlots.sorted() {
      guard let state = link(in: slot), let since = state.slowedSince, state.reason == nil else {
        slowedSlots.remove(slot)
        continue
      }
      if isWithinShare(state) {
        state.slowedSince = nil
        slowedSlots.remove(slot)
        readAgain(state)
      } else if now - since >= options.limits.slowedMilliseconds {
        overdue.append(state)
      }
    }
    close(overdue)
  }

  private func isWithinShare(_ state: LinkState) -> Bool {
    !leavesTooMuch(state) && budget.roomBytes(for: state.address, user: state.user) > 0
  }

  /// Returns true when memory is scarce, and the link leaves a part of it unread.
  private func leavesTooMuch(_ state: LinkState) -> Bool {
    budget.isTight && state.link.queuedBytes > leastUnreadBytes
  }

  private func close(_ overdue: [LinkState]) {
    let byBytes = overdue.sorted {
      ($0.heldBytes, $1.slot) > ($1.heldBytes, $0.slot)
    }
    // What a closed link held is released later, when its end is decided.
    var given: [String: Int] = [:]
    for state in byBytes {
      let account = state.user ?? state.address
      let surplus = excess(of: state) - given[account, default: 0]
      if surplus < 0, !leavesTooMuch(state) { continue }
      given[account, default: 0] += state.heldBytes
      slowedSlots.remove(state.slot)
      close(state, .overShare(limitBytes: budget.addressBytes))
    }
  }

  /// The bytes that the client of a link holds above its share; negative below it.
  private func excess(of state: LinkState) -> Int {
    let ofAddress = budget.usedBytes(of: state.address) - budget.addressBytes
    guard let user = state.user else { return ofAddress }
    return max(ofAddress, budget.usedBytes(ofUser: user) - budget.identityBytes)
  }
}

extension TernServer.LinkState {
  /// The bytes that the link makes the server hold by itself.
  fileprivate var heldBytes: Int {
    waitingBytes + TernServer.connectionBytes + link.queuedBytes
  }
}
