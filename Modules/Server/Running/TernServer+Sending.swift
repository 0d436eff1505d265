import TernTransport

extension TernServer {
  func perform(_ outputs: [ServerOutput]) {
    var touched: [Int] = []
    for output in outputs {
      switch output {
      case .send(let slot, let frame): send(frame, to: slot, &touched)
      case .broadcast(let slots, let frame):
        for slot in slots { send(frame, to: slot, &touched) }
      case .close(let slot, let reason): close(slot, reason)
      }
    }
    for slot in touched { flush(slot) }
  }

  func send(_ frame: [UInt8], to slot: Int, _ touched: inout [Int]) {
    guard let link = links[slot]?.link else { return }
    link.send(frame)
    if links[slot]?.needsFlush == false {
      links[slot]?.needsFlush = true
      touched.append(slot)
    }
  }

  func flush(_ slot: Int) {
    guard let link = links[slot]?.link else { return }
    links[slot]?.needsFlush = false
    link.flush()
    let queued = link.queuedBytes
    if queued > options.limits.queuedBytes {
      close(slot, .tooSlow(queuedBytes: queued, limit: options.limits.queuedBytes))
    }
  }

  func close(_ slot: Int, _ reason: SessionEnd) {
    guard let link = links[slot]?.link, links[slot]?.reason == nil else { return }
    links[slot]?.reason = reason
    link.flush()
    link.close()
  }

  func closeAll(_ reason: SessionEnd) {
    for slot in links.keys.sorted() { close(slot, reason) }
  }
}
