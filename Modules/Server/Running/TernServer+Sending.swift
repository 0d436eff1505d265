import TernTransport

extension TernServer {
  /// Sends what a batch owes, link by link, and flushes each once.
  ///
  /// A link's frames are handed over together, so that only one link's bytes wait at a time
  /// however many the batch goes out to.
  func perform(_ outputs: [ServerOutput]) {
    var touched: [LinkState] = []
    for output in outputs {
      switch output {
      case .send(let slot, let frame): owe(frame, to: slot, &touched)
      case .broadcast(let slots, let frame):
        for slot in slots { owe(frame, to: slot, &touched) }
      case .answer(let ticket, let answer): askers.removeValue(forKey: ticket)?(answer)
      case .close(let slot, let reason):
        if let state = link(in: slot) { close(state, reason) }
      }
    }
    for state in touched { deliver(state) }
  }

  private func owe(_ frame: [UInt8], to slot: Int, _ touched: inout [LinkState]) {
    guard let state = link(in: slot) else { return }
    if state.owed.isEmpty { touched.append(state) }
    state.owed.append(frame)
  }

  private func deliver(_ state: LinkState) {
    if state.owed.isEmpty { return }
    state.link.send(contentsOf: state.owed)
    state.owed.removeAll(keepingCapacity: state.owed.count <= LinkState.owedKept)
    state.link.flush()
    let queued = state.link.queuedBytes
    if queued > options.limits.queuedBytes {
      close(state, .tooSlow(queuedBytes: queued, limit: options.limits.queuedBytes))
    }
  }

  /// Closes a link after what was sent to it; it is let go when it says that it has ended.
  func close(_ state: LinkState, _ reason: SessionEnd) {
    if state.reason != nil { return }
    state.reason = reason
    deliver(state)
    state.link.flush()
    state.link.close()
  }

  func closeAll(_ reason: SessionEnd) {
    for case .some(let state) in links { close(state, reason) }
  }
}
