import TernTransport

/// Frames that some links are owed one behind the other.
final class Parcel {
  /// Whether many links get it.
  fileprivate let isShared: Bool
  fileprivate var frames: [[UInt8]]
  /// Made when the parcel is complete.
  fileprivate lazy var shared = SharedFrames(frames)

  fileprivate init(_ frame: [UInt8], isShared: Bool) {
    self.isShared = isShared
    frames = [frame]
  }
}

extension TernServer {
  /// Sends what a batch owes, link by link, and flushes each once.
  ///
  /// A link's frames are handed over together, so that only one link's bytes wait at a time
  /// however many the batch goes out to. What many links get alike is one parcel for all of them,
  /// as long as none of them gets anything else in between.
  func perform(_ outputs: [ServerOutput]) {
    var touched: [LinkState] = []
    var open: (slots: [Int], parcel: Parcel)?
    for output in outputs {
      switch output {
      case .send(let slot, let frame):
        guard let state = link(in: slot) else { continue }
        if let last = state.owed.last {
          if !last.isShared {
            last.frames.append(frame)
            continue
          }
          // What comes later must not join what this link is owed before this frame.
          if last === open?.parcel { open = nil }
        }
        owe(Parcel(frame, isShared: false), to: state, &touched)
      case .broadcast(let slots, let frame):
        if let open, open.slots.isSameMemory(as: slots) {
          open.parcel.frames.append(frame)
        } else {
          let parcel = Parcel(frame, isShared: true)
          open = (slots, parcel)
          for slot in slots {
            if let state = link(in: slot) { owe(parcel, to: state, &touched) }
          }
        }
      case .answer(let ticket, let answer): askers.removeValue(forKey: ticket)?(answer)
      case .close(let slot, let reason):
        open = nil
        if let state = link(in: slot) { close(state, reason) }
      }
    }
    for state in touched { deliver(state) }
  }

  private func owe(_ parcel: Parcel, to state: LinkState, _ touched: inout [LinkState]) {
    if state.owed.isEmpty { touched.append(state) }
    state.owed.append(parcel)
  }

  private func deliver(_ state: LinkState) {
    if state.owed.isEmpty { return }
    for parcel in state.owed {
      if parcel.isShared {
        state.link.send(parcel.shared)
      } else {
        state.link.send(contentsOf: parcel.frames)
      }
    }
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

extension Array {
  /// Whether both arrays are one piece of memory, which makes them equal without looking.
  fileprivate func isSameMemory(as other: [Element]) -> Bool {
    unsafe count == other.count
      && withUnsafeBufferPointer { left in
        unsafe other.withUnsafeBufferPointer { right in
          unsafe left.baseAddress == right.baseAddress
        }
      }
  }
}
