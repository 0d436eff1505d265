import Dispatch
import TernTransport

// Large frames are decoded on a thread of their own, one after the other; what comes behind one
// over the same link waits for it.
extension TernServer {
  /// Frames of more bytes are decoded away from the executor.
  static let largeFrameBytes = 64 << 10

  /// Puts a frame, or the end of a link, behind what its link has sent before.
  func enqueue(_ input: ServerInput, of state: LinkState) {
    guard state.behind.isEmpty, !isLarge(input, state) else {
      state.behind.append(input)
      if state.behind.count == 1 { prepare(state) }
      return
    }
    inbox.append(input)
  }

  /// Frames of the tree are text; those about documents are decoded where they are decided.
  private func isLarge(_ input: ServerInput, _ state: LinkState) -> Bool {
    guard case .frame(_, let frame) = input else { return false }
    return frame.count > Self.largeFrameBytes && !DocumentLink.begins(with: frame)
  }

  /// Decodes the large frame that is first of what waits at a link.
  private func prepare(_ state: LinkState) {
    guard case .frame(let slot, let frame)? = state.behind.first else { return }
    let charge = MemoryCharge(budget, .parsing, of: state.address)
    let work = LinkWork(state)
    preparer.async {
      let prepared = PreparedFrame(frame, charging: charge)
      Task { await self.take(prepared, slot, work) }
    }
  }

  private func take(_ prepared: PreparedFrame, _ slot: Int, _ work: LinkWork) {
    let state = work.state
    inbox.append(.prepared(slot: slot, prepared))
    var rest = state.behind.dropFirst()
    state.behind = []
    while let next = rest.popFirst() {
      if isLarge(next, state) {
        state.behind = [next] + rest
        prepare(state)
        break
      }
      inbox.append(next)
    }
    drainSoon()
  }
}

/// Carries a link's state past the thread that decodes for it, which does not look at it.
private struct LinkWork: @unchecked Sendable {
  let state: TernServer.LinkState

  init(_ state: TernServer.LinkState) { self.state = state }
}
