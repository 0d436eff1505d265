import TernTransport

/// Frames that some links are owed one behind the other.
final class OutgoingBatch {
  /// True when many links get it.
  fileprivate let isShared: Bool
  fileprivate var frames: [[UInt8]]
  /// True when nothing is pending for its links behind it, so that more may join it.
  fileprivate var isOpen = true
  /// Made when the parcel is complete.
  fileprivate lazy var shared = SharedFrames(frames)
  /// The bytes of its frames; asked for when it is complete.
  lazy var bytes = frames.reduce(0) { $0 + $1.count }
  /// Counts its bytes once, however many links have not sent them.
  private var charge: OutputCharge?

  func charge(to budget: MemoryBudget) -> OutputCharge {
    if let charge { return charge }
    let new = OutputCharge(bytes, budget)
    charge = new
    return new
  }

  fileprivate init(_ frame: [UInt8], isShared: Bool) {
    self.isShared = isShared
    frames = [frame]
  }
}

/// Sends what batches owe, link by link. Lives and is used on the server's executor only.
///
/// Frames of a batch are collected by link before anything is sent. A frame for many links is one
/// object that all of them share, also in their queues, and its bytes are counted once.
final class LinkWriter {
  private let links: LinkTable
  private let memory: MemoryGuard
  private let budget: MemoryBudget
  private let queuedBytes: Int
  private let metrics: ServerMetrics
  /// The links that were sent so much that they are to be held, in order.
  ///
  /// Holding takes place after all outputs of a batch are handed over.
  private var heldLater: [Int] = []

  init(
    _ links: LinkTable, _ memory: MemoryGuard, _ budget: MemoryBudget, queuedBytes: Int,
    _ metrics: ServerMetrics
  ) {
    self.metrics = metrics
    self.links = links
    self.memory = memory
    self.budget = budget
    self.queuedBytes = queuedBytes
  }

  /// Hands over the slots of links that leave much unread since the last call.
  func takeHeld() -> [Int] { heldLater.isEmpty ? [] : exchange(&heldLater, with: []) }

  /// Sends what a batch owes, and flushes each link once.
  ///
  /// A link's frames are handed over together, so that only one link's bytes wait at a time
  /// however many the batch goes out to. What many links get alike is one parcel for all of them,
  /// as long as none of them gets anything else in between.
  ///
  /// - Parameter answer: Receives the answers to direct requests, in order.
  func perform(_ outputs: [ServerOutput], answer: (UInt64, DirectAnswer) -> Void) {
    var touched: [LinkState] = []
    // By where the list of their links lies, which the outputs keep alive.
    var parcels: [UInt: OutgoingBatch] = [:]
    for output in outputs {
      switch output {
      case .send(let slot, let frame):
        // Nothing follows a farewell.
        guard let state = links[slot], state.reason == nil else { continue }
        metrics.framesOut += 1
        metrics.bytesOut += frame.count
        if let last = state.lastOwed, !last.isShared {
          last.frames.append(frame)
        } else {
          state.emit(OutgoingBatch(frame, isShared: false), &touched)
        }
      case .broadcast(let slots, let frame):
        metrics.framesOut += slots.count
        metrics.bytesOut += slots.count * frame.count
        if let known = parcels[slots.place], known.isOpen {
          known.frames.append(frame)
        } else {
          let parcel = OutgoingBatch(frame, isShared: true)
          parcels[slots.place] = parcel
          for slot in slots {
            guard let state = links[slot], state.reason == nil else { continue }
            state.emit(parcel, &touched)
          }
        }
      case .answer(let ticket, let value): answer(ticket, value)
      case .close(let slot, let reason):
        if let state = links[slot] { close(state, reason) }
      }
    }
    for state in touched { deliver(state) }
    if budget.isTight { memory.makeRoom() }
  }

  /// Sends everything that a batch owes one link.
  ///
  /// A link that leaves more than ``ServerLimits/queuedBytes`` unread is closed; one that leaves
  /// less but much is held, so that it causes no further output.
  private func deliver(_ state: LinkState) {
    guard let first = state.takeOwed() else { return }
    let queued: Int
    if first.isShared, state.owedBehind.isEmpty {
      queued = state.link.post(first.shared)
      if queued > 0 || !state.unsent.isEmpty { memory.count([first], queued, state) }
    } else {
      state.link.send(first)
      for parcel in state.owedBehind { state.link.send(parcel) }
      state.link.flush()
      queued = state.link.queuedBytes
      if queued > 0 || !state.unsent.isEmpty {
        memory.count([first] + state.owedBehind, queued, state)
      }
      state.owedBehind.removeAll(keepingCapacity: state.owedBehind.count <= LinkState.owedKept)
    }
    if queued > queuedBytes {
      close(state, .tooSlow(queuedBytes: queued, limit: queuedBytes))
    } else if queued > LinkPressure.highBytes, links[state.slot] === state {
      heldLater.append(state.slot)
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
    for state in links.all { close(state, reason) }
  }
}

extension LinkState {
  fileprivate var lastOwed: OutgoingBatch? { owedBehind.last ?? pendingEffects }

  /// Puts a parcel behind what the link is owed already.
  fileprivate func emit(_ parcel: OutgoingBatch, _ touched: inout [LinkState]) {
    guard let last = lastOwed else {
      pendingEffects = parcel
      touched.append(self)
      return
    }
    // What comes later must not join what this link is owed before this parcel.
    last.isOpen = false
    owedBehind.append(parcel)
  }

  /// Takes the link's first pending batch, which is on its way now: nothing more joins it.
  fileprivate func takeOwed() -> OutgoingBatch? {
    lastOwed?.isOpen = false
    return exchange(&pendingEffects, with: nil)
  }
}

extension Link {
  fileprivate func send(_ parcel: OutgoingBatch) {
    if parcel.isShared {
      send(parcel.shared)
    } else {
      send(contentsOf: parcel.frames)
    }
  }
}

extension [Int] {
  /// The address of the array: two live arrays with elements are one piece of memory, and so equal,
  /// when they have the same address.
  fileprivate var place: UInt {
    unsafe withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
  }
}
