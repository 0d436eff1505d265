import Dispatch
import TernSecurity
import TernTransport
import TernTreeWire

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
    let large = LargeFrame(
      slot: slot, number: state.number, bytes: frame,
      charge: MemoryCharge(budget, .parsing, of: state.address))
    preparer.async {
      guard let outline = WriteOutline(frame) else { return large.decode(for: self) }
      Task { await self.judge(outline, of: large) }
    }
  }

  /// Asks the rules as far as they can judge without the data, behind what the link sent before.
  private func judge(_ outline: WriteOutline, of large: LargeFrame) {
    let ticket = requests.add { answer in
      if case .refused(.permissionDenied(let refusal)) = answer {
        return large.deny(outline.request, refusal, for: self)
      }
      self.preparer.async { large.decode(for: self) }
    }
    inbox.append(.judge(slot: large.slot, ticket: ticket, outline))
    drainSoon()
  }

  fileprivate func receive(_ prepared: PreparedFrame, of large: LargeFrame) {
    let slot = large.slot
    // It is known until its end is decided, and that waits behind the frame.
    guard let state = links.known(slot, number: large.number) else { return }
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

/// A large frame on its way to be decoded.
private struct LargeFrame: Sendable {
  let slot: Int
  /// The ``LinkState/number`` of its link.
  let number: Int
  let bytes: [UInt8]
  /// The memory that decoding takes, once it is known.
  let charge: MemoryCharge

  /// Weighs and decodes the frame. Blocks for as long as that takes.
  func decode(for server: TernServer) {
    let prepared = PreparedFrame(bytes, charging: charge)
    Task { await server.receive(prepared, of: self) }
  }

  /// Denies the write that it carries.
  func deny(_ request: UInt64, _ refusal: AccessRefusal, for server: TernServer) {
    let denied = PreparedFrame(
      denied: refusal, request: request, bytes: bytes.count, charging: charge)
    Task { await server.receive(denied, of: self) }
  }
}
