import TernTransport

extension TernServer {
  /// Sends what a batch owes, then flushes each link once.
  func perform(_ outputs: [ServerOutput]) {
    var touched: [LinkState] = []
    for output in outputs {
      switch output {
      case .send(let slot, let frame): send(frame, to: slot, &touched)
      case .broadcast(let slots, let frame):
        for slot in slots { send(frame, to: slot, &touched) }
      case .close(let slot, let reason):
        if let state = link(in: slot) { close(state, reason) }
      }
    }
    for state in touched { flush(state) }
  }

  private func send(_ frame: [UInt8], to slot: Int, _ touched: inout [LinkState]) {
    guard let state = link(in: slot) else { return }
    state.link.send(frame)
    if state.needsFlush { return }
    state.needsFlush = true
    touched.append(state)
  }

  private func flush(_ state: LinkState) {
    state.needsFlush = false
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
    state.link.flush()
    state.link.close()
  }

  func closeAll(_ reason: SessionEnd) {
    for case .some(let state) in links { close(state, reason) }
  }
}
