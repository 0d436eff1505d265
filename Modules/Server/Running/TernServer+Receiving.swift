import TernLedger
import TernSecurity
import TernSync
import TernTransport

extension TernServer {
  /// Takes what waits at an acceptor.
  func take(from acceptor: LinkAcceptor) { take(acceptor.takeWaiting()) }

  /// Takes events of links, in order; they are decided when the tick is over.
  func take(_ events: [LinkEvent]) {
    for event in events {
      switch event {
      case .opened(let handler): register(handler)
      case .received(let slot, let frames): queue(frames, from: slot)
      case .drained(let slot): release(slot)
      case .read(let job): inbox.append(job)
      case .closed(let slot, let reason): letGo(slot, reason)
      }
    }
    drainSoon()
  }

  private func register(_ handler: ServerLink) {
    let state = LinkState(slot: handler.slot, link: handler.link, at: uptime())
    metrics.connectionsOpened[state.protocolName, default: 0] += 1
    links.add(state)
    let peer = handler.link.peer
    report(.connected(peer: peer))
    let isInShare = budget.charge(LinkState.connectionBytes, .connections, to: state.address)
    if !isInShare { budget.count(LinkState.connectionBytes, .connections, to: state.address) }
    if let refusal { return close(state, refusal) }
    if !isInShare {
      // Its bytes are those of one connection; only where nothing is left is it let go at once.
      if budget.isShort { close(state, .overShare(limitBytes: budget.addressBytes)) }
      memory.slow(state)
    }
    inbox.append(
      .opened(
        slot: handler.slot, isLocal: PeerAddress.isLocal(peer),
        address: state.address))
  }

  private func queue(_ frames: [[UInt8]], from slot: Int) {
    guard refusal == nil, let state = links[slot], state.reason == nil else { return }
    let now = microseconds()
    state.noteArrival(of: frames, at: now)
    metrics.framesIn += frames.count
    let user = batches.machine.sessions[slot]?.identity.userID
    if state.user != user {
      budget.transfer(state.waitingBytes, from: state.user, to: user)
      state.user = user
    }
    // Counted before a frame may be passed on, and counted out with that.
    let bytes = frames.reduce(0) { $0 + $1.count }
    metrics.bytesIn += bytes
    budget.count(bytes, .waiting, to: state.address, user: user)
    for frame in frames {
      state.waitingBytes += frame.count
      if state.isDirect { continue }
      if !frame.isEmpty { state.arrivals.append(now) }
      part.receive(frame, of: state, at: self)
    }
    // They are here already; an address that holds more than its share is not read from meanwhile.
    if state.waitingBytes > LinkPressure.lowBytes,
      budget.roomBytes(for: state.address, user: user) == 0
    {
      memory.slow(state)
    } else if InboxPressure.isHigh(state, at: self) {
      state.pause()
    }
    if state.isDirect { DirectLinks.receive(frames, over: state, at: self) }
  }

  private func letGo(_ slot: Int, _ reason: LinkClosure) {
    guard let state = links.end(slot) else { return }
    let end = state.reason ?? .linkClosed(reason.description)
    metrics.connectionsClosed += 1
    report(.disconnected(peer: state.link.peer, reason: end))
    // The machine may owe this link something still, which another one in its slot must not get.
    if refusal == nil {
      batches.machine.loseLink(slot)
      enqueue(.closed(slot: slot), of: state)
    } else {
      slots.giveBack(slot)
    }
    memory.forget(state)
    part.forget(slot)
    inbox.releaseAll(slot)
    if refusal != nil { forget([.closed(slot: slot)]) }
  }

  /// Counts out what links held that are gone, with everything that they had sent.
  private func forget(_ inputs: [ServerInput]) {
    for case .closed(let slot) in inputs {
      guard let state = links.forget(slot) else { continue }
      budget.release(state.waitingBytes, .waiting, of: state.address, user: state.user)
      budget.release(LinkState.connectionBytes, .connections, of: state.address)
    }
  }

  /// Decides nothing more that links ask for which leave much unread, until they were sent it.
  func holdLinks() {
    for slot in writer.takeHeld() where links.hold(slot) { inbox.hold(slot) }
  }

  private func release(_ slot: Int) {
    if let state = links[slot] { memory.recount(state) }
    part.drained(slot, at: self)
    if memory.isSlowed(slot) { closeOverdue() }
    if links.release(slot) { inbox.release(slot) }
  }

  /// Looks again at links that are not read from, and closes those whose time is over.
  func closeOverdue() {
    for state in memory.reviewSlowed() {
      close(state, .overShare(limitBytes: budget.addressBytes))
    }
  }

  /// Lets the machine know which of the links that are held still say something.
  func reportHeldLinks() {
    for slot in links.held.union(inbox.reading).sorted() {
      guard let state = links[slot], exchange(&state.wasHeard, with: false) else { continue }
      inbox.append(.heard(slot: slot))
    }
  }

  /// Lets other links have the slots of those whose end the machine knows of, or was made anew
  /// since.
  func giveBackSlots(of inputs: [ServerInput]) {
    forget(inputs)
    for case .closed(let slot) in inputs { slots.giveBack(slot) }
  }

  func drainSoon() {
    guard !isDraining, !inbox.isEmpty else { return }
    lastBatch = uptime()
    isDraining = true
    Task { await drain() }
  }

  /// Decides and carries out what waits, one batch a turn of the executor.
  private func drain() async {
    let inputs = inbox.take(
      options.limits.batchFrames, limitBytes: options.limits.batchBytes)
    var decided = inputs
    do throws(LedgerError) { decided = try await carryOut(inputs) } catch {
      await recover(from: error)
    }
    lastBatch = uptime()
    giveBackSlots(of: decided)
    if !inbox.isEmpty { await ExecutorPause.leave(executor) }
    isDraining = false
    drainSoon()
  }

  /// - Returns: The inputs that were decided; others wait again.
  private func carryOut(_ inputs: [ServerInput]) async throws(LedgerError) -> [ServerInput] {
    if inputs.isEmpty || refusal != nil { return inputs }
    let plan = try await batches.run(inputs)
    inbox.goOn(behind: plan) { links[$0] != nil }
    let writes = FollowedWrites.arrivals(of: plan, at: self)
    perform(plan.outputs)
    FollowedWrites.tell(writes, plan.times, at: self)
    exports.reads.begin(plan.reads) { job in Task { await self.take([.read(job)]) } }
    let decided = plan.decided(of: inputs)
    part.noteFollowed(decided, at: self)
    InboxPressure.release(decided, at: self)
    if memory.isReviewDue { closeOverdue() }
    return decided
  }

  /// Sends what a batch owes, link by link.
  func perform(_ outputs: [ServerOutput]) {
    writer.perform(outputs) { number, answer in
      guard let request = requests.remove(number) else { return }
      if let arrival = request.arrival { metrics.directTime.record(Int(microseconds() - arrival)) }
      request.answer(answer)
    }
    holdLinks()
  }

  /// Closes a link after what was sent to it.
  func close(_ state: LinkState, _ reason: SessionEnd) {
    writer.close(state, reason)
    holdLinks()
  }

  func closeAll(_ reason: SessionEnd) {
    writer.closeAll(reason)
    holdLinks()
  }
}
