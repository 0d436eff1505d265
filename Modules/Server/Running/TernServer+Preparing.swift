import Dispatch
import TernSecurity
import TernTransport
import TernTreeWire

// Large frames are decoded on a thread of their own, one after the other; what comes behind one
// over the same link waits for it.
extension TernServer {
  /// Puts a frame, or the end of a link, behind what its link has sent before.
  func enqueue(_ input: ServerInput, of state: LinkState) {
    guard state.behind.isEmpty, !LargeFrame.isLarge(input) else {
      state.behind.append(input)
      if state.behind.count == 1 { LargeFrame.prepare(state, at: self) }
      return
    }
    inbox.append(input)
  }
}

extension LargeFrame {
  /// Frames of more bytes are decoded away from the executor.
  static let leastBytes = 64 << 10

  /// Frames of the tree are text; those about documents are decoded where they are decided.
  static func isLarge(_ input: ServerInput) -> Bool {
    guard case .frame(_, let frame) = input else { return false }
    return frame.count > leastBytes && !DocumentLink.begins(with: frame)
  }

  /// Decodes the large frame that is first of what waits at a link.
  static func prepare(_ state: LinkState, at server: isolated TernServer) {
    guard case .frame(let slot, let frame)? = state.behind.first else { return }
    let large = LargeFrame(
      slot: slot, number: state.number, bytes: frame,
      charge: MemoryCharge(server.budget, .parsing, of: state.address))
    server.preparer.async {
      guard let outline = WriteOutline(frame) else { return large.decode(for: server) }
      Task { await large.judge(outline, at: server) }
    }
  }

  /// Asks the rules as far as they can judge without the data, behind what the link sent before.
  private func judge(_ outline: WriteOutline, at server: isolated TernServer) {
    let ticket = server.requests.add { answer in
      if case .refused(.permissionDenied(let refusal)) = answer {
        return deny(outline.request, refusal, for: server)
      }
      server.preparer.async { decode(for: server) }
    }
    server.inbox.append(.judge(slot: slot, ticket: ticket, outline))
    server.drainSoon()
  }

  private func receive(_ prepared: PreparedFrame, at server: isolated TernServer) {
    // It is known until its end is decided, and that waits behind the frame.
    guard let state = server.links.known(slot, number: number) else { return }
    server.inbox.append(.prepared(slot: slot, prepared))
    var rest = state.behind.dropFirst()
    state.behind = []
    while let next = rest.popFirst() {
      if Self.isLarge(next) {
        state.behind = [next] + rest
        Self.prepare(state, at: server)
        break
      }
      server.inbox.append(next)
    }
    server.drainSoon()
  }
}

/// A large frame on its way to be decoded.
struct LargeFrame: Sendable {
  let slot: Int
  /// The ``LinkState/number`` of its link.
  let number: Int
  let bytes: [UInt8]
  /// The memory that decoding takes, once it is known.
  let charge: MemoryCharge

  /// Weighs and decodes the frame. Blocks for as long as that takes.
  private func decode(for server: TernServer) {
    let prepared = PreparedFrame(bytes, charging: charge)
    Task { await receive(prepared, at: server) }
  }

  /// Denies the write that it carries.
  private func deny(_ request: UInt64, _ refusal: AccessRefusal, for server: TernServer) {
    let denied = PreparedFrame(
      denied: refusal, request: request, bytes: bytes.count, charging: charge)
    Task { await receive(denied, at: server) }
  }
}
