import Dispatch
import TernSecurity
import TernTransport

/// The links over which other nodes pass on requests without a session.
///
/// Such a link gives its other end no more than REST does: `TernServer/ask(_:_:)` checks the
/// credential, the rates and the rules of each request, and its origin is that of the link.
/// Source: Docs/Formats/direct-link.md.
///
/// Frames pass through four steps: counted as waiting, decoded, decided by the machine, answered.
/// Large frames are decoded beside the executor, after the rules have judged a write by its paths.
enum DirectLinks {
  /// The most requests of one link that are not answered; one more ends it.
  static let mostRequests = 16

  /// The origin of a request, and the memory that it holds until it is answered.
  struct Origin: Sendable {
    let slot: Int
    /// The ``LinkState/number`` of its link.
    let link: Int
    let isLocal: Bool
    let address: String
    let frameBytes: Int
    /// The memory of the request while it is decided; it outlives its link.
    let charge: MemoryCharge

    var isLarge: Bool { frameBytes > LargeFrame.leastBytes }

    init(_ state: LinkState, frameBytes: Int, _ budget: MemoryBudget) {
      slot = state.slot
      link = state.number
      isLocal = PeerAddress.isLocal(state.link.peer)
      address = state.address
      self.frameBytes = frameBytes
      charge = MemoryCharge(budget, .parsing, of: state.address)
    }
  }

  /// Decides the requests of a link; their frames are counted as waiting already.
  static func receive(
    _ frames: [[UInt8]], over state: LinkState, at server: isolated TernServer
  ) {
    // Its frames never reach the session that every link has.
    server.batches.machine.sessions[state.slot]?.lastHeard = server.uptime()
    for frame in frames {
      guard state.reason == nil else { return }
      let origin = Origin(state, frameBytes: frame.count, server.budget)
      guard state.requests < mostRequests else {
        return server.close(state, .outOfTurn("a request behind \(mostRequests) others"))
      }
      state.requests += 1
      if origin.isLarge {
        judge(frame, from: origin, for: server)
      } else {
        origin.charge.count(frame.count)
        do throws(DirectFrameError) {
          let read = try DirectFrame(frame, .request)
          let request = try read.request(isLocal: origin.isLocal, address: origin.address)
          ask(request, read, from: origin, at: server)
        } catch {
          reject(error, from: origin, at: server)
        }
      }
    }
  }

  /// Lets the machine decide a request of another node.
  ///
  /// A node that follows refuses the request: it was sent here because this node led. The client of
  /// the other node asks again, and reaches the new leader.
  private static func ask(
    _ request: DirectRequest, _ read: DirectFrame, from origin: Origin,
    at server: isolated TernServer
  ) {
    let (number, form) = (read.number, read.pieceForm)
    guard server.part.copy == nil else {
      // Passed on once more, a request could go in circles.
      let refusal = DirectRefusal.unavailable(RefusalText.follows)
      return send(.refused(refusal), number, to: origin, at: server)
    }
    var asked = RevocationMoments.resolve(request, at: server)
    asked.isOverLink = true
    // More would not fit an answer.
    asked.wholeBytes = server.options.limits.answerBytes
    // What belongs to another shard is not passed on once more.
    server.part.askHere(asked, at: server) { answer in
      server.assumeIsolated { server in
        if let form, case .done = answer {
          return server.part.exports.begin(request, form, number, to: origin, at: server)
        }
        give(answer, number, to: origin, at: server)
      }
    }
  }

  /// Sends an answer, a large one once it was encoded away from the executor.
  ///
  /// The request may name data in pieces; then a `done` answer means that reading is allowed, and
  /// the pieces follow.
  private static func give(
    _ answer: DirectAnswer, _ number: UInt64, to origin: Origin, at server: isolated TernServer
  ) {
    guard !answer.isShort(limitBytes: LargeFrame.leastBytes) else {
      return send(answer, number, to: origin, at: server)
    }
    let limit = server.options.limits.answerBytes
    server.preparer.async {
      let frame = encode(answer, number, limitBytes: limit)
      origin.charge.count(frame.count)
      Task { await send(frame, to: origin, at: server) }
    }
  }

  /// Answers a request whose data break a rule, and closes the link of what is no request.
  private static func reject(
    _ error: DirectFrameError, from origin: Origin, at server: isolated TernServer
  ) {
    switch error {
    case .invalid(let number, let text):
      send(.refused(.invalid(text)), number, to: origin, at: server)
    case .malformed, .tooLong, .notCarried:
      guard let state = settle(origin, at: server) else { return }
      server.close(state, .malformedFrame(error.description))
    }
  }

  static func send(
    _ answer: DirectAnswer, _ number: UInt64, to origin: Origin, at server: isolated TernServer
  ) {
    send(
      encode(answer, number, limitBytes: server.options.limits.answerBytes), to: origin, at: server)
  }

  static func send(
    _ frame: [UInt8], to origin: Origin, at server: isolated TernServer
  ) {
    guard let state = settle(origin, at: server) else { return }
    server.perform([.send(slot: state.slot, frame)])
    if state.leavesAnswers { state.pause() }
  }

  private static func encode(
    _ answer: DirectAnswer, _ number: UInt64, limitBytes: Int
  ) -> [UInt8] {
    var refusal = DirectRefusal.tooBig(limitBytes: limitBytes)
    do throws(DirectFrameError) {
      let frame = try DirectFrame(answer, number).encoded()
      if frame.count <= limitBytes { return frame }
    } catch {
      refusal = .unavailable("The answer cannot be passed on.")
    }
    // Refusals are short, and always carried.
    return encode(.refused(refusal), number, limitBytes: .max)
  }

  /// Releases the frame of a request that is decided.
  ///
  /// Called once for each request, whatever its outcome.
  ///
  /// - Returns: The link that it came over; `nil` when that is over, and its frames with it.
  private static func settle(_ origin: Origin, at server: isolated TernServer) -> LinkState? {
    guard let state = server.links.known(origin.slot, number: origin.link) else { return nil }
    state.requests -= 1
    server.memory.release(origin.frameBytes, of: state)
    return state
  }
}

// MARK: - Large requests

// Read away from the executor; the rules judge a write by its paths before its data are weighed,
// and data are weighed before they are parsed.
extension DirectLinks {
  private static func judge(_ frame: [UInt8], from origin: Origin, for server: TernServer) {
    server.preparer.async {
      let read: DirectFrame
      let question: DirectRequest?
      do throws(DirectFrameError) {
        read = try DirectFrame(frame, .request)
        question = try read.question(isLocal: origin.isLocal, address: origin.address)
      } catch {
        Task { await reject(error, from: origin, at: server) }
        return
      }
      guard let question else { return decode(read, from: origin, for: server) }
      Task { await judge(question, read, from: origin, at: server) }
    }
  }

  private static func judge(
    _ question: DirectRequest, _ read: DirectFrame, from origin: Origin,
    at server: isolated TernServer
  ) {
    server.part.askHere(question, at: server) { answer in
      if case .refused = answer {
        return server.assumeIsolated { send(answer, read.number, to: origin, at: $0) }
      }
      server.preparer.async { decode(read, from: origin, for: server) }
    }
  }

  /// Weighs and reads the data. Blocks for as long as that takes.
  private static func decode(_ read: DirectFrame, from origin: Origin, for server: TernServer) {
    let weight = read.weight
    let most = origin.charge.budget.addressBytes
    guard origin.charge.add(weight) else {
      let refusal: DirectRefusal =
        weight > most
        ? .invalid("The data take more memory to read than the \(most) bytes of one address.")
        : .unavailable("Too much is being read. Try again.")
      Task { await send(.refused(refusal), read.number, to: origin, at: server) }
      return
    }
    do throws(DirectFrameError) {
      let request = try read.request(isLocal: origin.isLocal, address: origin.address)
      Task { await ask(request, read, from: origin, at: server) }
    } catch {
      Task { await reject(error, from: origin, at: server) }
    }
  }
}
