import Dispatch
import TernLedger
import TernSecurity
import TernStorage
import TernSync
import TernTransport

extension TernServer {
  /// Takes what waits at a door.
  func take(from door: LinkAcceptor) { take(door.takeWaiting()) }

  /// Takes events of links, in order; they are decided when the tick is over.
  func take(_ events: [LinkEvent]) {
    for event in events {
      switch event {
      case .opened(let handler): welcome(handler)
      case .received(let slot, let frames): queue(frames, from: slot)
      case .drained(let slot): release(slot)
      case .closed(let slot, let reason): letGo(slot, reason)
      }
    }
    drainSoon()
  }

  private func welcome(_ handler: ServerLink) {
    while links.count <= handler.slot { links.append(nil) }
    let state = LinkState(slot: handler.slot, link: handler.link)
    links[handler.slot] = state
    report(.connected(peer: handler.link.peer))
    let isInShare = budget.charge(Self.connectionBytes, .connections, to: state.address)
    if !isInShare { budget.count(Self.connectionBytes, .connections, to: state.address) }
    if let end { return close(state, end) }
    if !isInShare {
      // Its bytes are those of one connection; only where nothing is left is it let go at once.
      if budget.isShort { close(state, .overShare(limitBytes: budget.addressBytes)) }
      slow(state)
    }
    let peer = handler.link.peer
    inbox.append(
      .opened(
        slot: handler.slot, isLocal: PeerAddress.isLocal(peer),
        address: state.address))
  }

  /// The memory of a connection with a session that does nothing.
  static let connectionBytes = 8 << 10

  private func queue(_ frames: [[UInt8]], from slot: Int) {
    guard end == nil, let state = link(in: slot), state.reason == nil else { return }
    state.wasHeard = true
    let user = machine.sessions[slot]?.identity.userID
    if state.user != user {
      budget.transfer(state.waitingBytes, from: state.user, to: user)
      state.user = user
    }
    for frame in frames {
      state.waitingBytes += frame.count
      enqueue(.frame(slot: slot, frame), of: state)
    }
    // They are here already; an address that holds more than its share is not read from meanwhile.
    budget.count(
      frames.reduce(0) { $0 + $1.count }, .waiting, to: state.address, user: user)
    if state.waitingBytes > LinkPressure.lowBytes,
      budget.roomBytes(for: state.address, user: user) == 0
    {
      slow(state)
    } else if state.waitingBytes > options.limits.inboxBytes {
      pause(state)
    }
  }

  /// Reads nothing from a link until that is taken back.
  func pause(_ state: LinkState) {
    if state.isPaused { return }
    state.isPaused = true
    state.link.setReading(false)
  }

  private func letGo(_ slot: Int, _ reason: LinkClosure) {
    guard let state = link(in: slot) else { return }
    links[slot] = nil
    let end = state.reason ?? .linkClosed(reason.description)
    report(.disconnected(peer: state.link.peer, reason: end))
    // The machine may owe this link something still, which another one in its slot must not get.
    if self.end == nil {
      machine.loseLink(slot)
      enqueue(.closed(slot: slot), of: state)
    } else {
      slots.giveBack(slot)
    }
    leaving[slot] = state
    heldSlots.remove(slot)
    unsentSlots.remove(slot)
    slowedSlots.remove(slot)
    state.unsent = []
    inbox.release(slot)
    if self.end != nil { forget([.closed(slot: slot)]) }
  }

  /// Counts out what links held that are gone, with everything that they had sent.
  private func forget(_ inputs: [ServerInput]) {
    for case .closed(let slot) in inputs {
      guard let state = leaving.removeValue(forKey: slot) else { continue }
      budget.release(state.waitingBytes, .waiting, of: state.address, user: state.user)
      budget.release(Self.connectionBytes, .connections, of: state.address)
    }
  }

  /// Decides nothing more that a link asks for until it was sent what waits for it.
  func hold(_ slot: Int) {
    guard heldSlots.insert(slot).inserted else { return }
    inbox.hold(slot)
  }

  private func release(_ slot: Int) {
    if let state = link(in: slot) { recount(state) }
    if slowedSlots.contains(slot) { reviewSlowed() }
    guard heldSlots.remove(slot) != nil else { return }
    inbox.release(slot)
  }

  /// Lets the machine know which of the links that are held still say something.
  func reportHeldLinks() {
    for slot in heldSlots.sorted() {
      guard let state = link(in: slot), exchange(&state.wasHeard, with: false) else { continue }
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
    giveBackSlots(of: decided)
    if !inbox.isEmpty { await leaveExecutor() }
    isDraining = false
    drainSoon()
  }

  /// A queue beside all executors, on which nothing else runs.
  private static let aside = DispatchQueue(label: "tern.server.aside")

  /// Leaves the executor for a moment. An event loop runs all tasks that it has before it looks at
  /// its sockets: batch behind batch, no other client would be read from until nothing waits.
  private func leaveExecutor() async {
    await withCheckedContinuation { continuation in
      Self.aside.async { continuation.resume() }
    }
  }

  /// - Returns: The inputs that were decided; others wait again.
  private func carryOut(_ inputs: [ServerInput]) async throws(LedgerError) -> [ServerInput] {
    if inputs.isEmpty || end != nil { return inputs }
    let (results, plan) = try await decide(await findsSpace(at: inputs) ? [.room] + inputs : inputs)
    // The server is the store's only writer; another one would invalidate every decision.
    guard results.elementsEqual(plan.versions, by: { $0 == .committed($1) }) else {
      throw .corrupt(key: [])
    }
    if !plan.commits.isEmpty { contradictions = 0 }
    if inputs.contains(where: \.isTick) { try await maintain() }
    inbox.charge(plan.costs)
    inbox.putBack(plan.deferred)
    if plan.isUnfinished { inbox.append(.goOn) }
    perform(plan.outputs)
    let decided = plan.decided(of: inputs)
    resume(decided)
    return decided
  }

  /// Lets the ledger do what time brings. A full disk takes no maintenance; writes meet it as well.
  private func maintain() async throws(LedgerError) {
    guard machine.diskSpace == .ample else { return }
    do throws(LedgerError) { try await ledger.maintain() } catch {
      if error != .storage(.diskFull) { throw error }
    }
  }

  /// Decides a batch and makes it durable. On a full disk the batch that meets it first is stored
  /// from what is held back for that, unless it writes so much that removals would lack it; from
  /// then on the machine takes removals alone.
  private func decide(
    _ inputs: [ServerInput]
  ) async throws(LedgerError) -> ([CommitResult], ServerPlan) {
    let now = ambient.millisecondsSinceEpoch()
    let uptime = uptime()
    let portion = BatchPortion(
      linkBytes: LinkPressure.highBytes, totalBytes: options.limits.batchBytes,
      steps: BatchPortion.sliceSteps)
    var planned: ServerPlan?
    do throws(LedgerError) {
      return try await ledger.decide { snapshot throws(StorageError) in
        let plan = try machine.plan(
          inputs, in: snapshot, now: now, uptime: uptime, portion: portion)
        planned = plan
        return Decision(plan.commits, keeping: plan)
      }
    } catch {
      guard error == .storage(.diskFull), let planned else { throw error }
      if planned.commits.reduce(0, { $0 + $1.putBytes }) > Self.reservedPutBytes {
        spaceAfterFailure = .removals
        throw error
      }
      let results = try await ledger.commitFromReserve(planned.commits)
      if machine.diskSpace == .ample { report(.diskFull) }
      machine.lackSpace(.removals)
      return (results, planned)
    }
  }

  /// Looks, on every tick while the disk is full, whether it still is.
  private func findsSpace(at inputs: [ServerInput]) async -> Bool {
    guard machine.diskSpace != .ample, inputs.contains(where: \.isTick) else { return false }
    do throws(LedgerError) { try await ledger.takeReserve() } catch {
      if machine.diskSpace == .none, (try? await ledger.commitFromReserve([])) != nil {
        machine.lackSpace(.removals)
      }
      return false
    }
    report(.diskHasRoom)
    return true
  }

  /// The most bytes of rows that one batch may put with space that is held back for removals.
  private static let reservedPutBytes = 64 << 10

  /// Reads again from links whose frames were decided.
  private func resume(_ inputs: [ServerInput]) {
    for input in inputs {
      let bytes = input.frameBytes
      guard bytes > 0, let slot = input.slot, let state = link(in: slot) ?? leaving[slot] else {
        continue
      }
      state.waitingBytes -= bytes
      budget.release(bytes, .waiting, of: state.address, user: state.user)
      if links[slot] != nil, state.slowedSince == nil { readAgain(state) }
    }
    if !slowedSlots.isEmpty, uptime() - slowedReview >= Self.slowedReviewPause { reviewSlowed() }
  }

  /// Reads again from a link, if little of what it sent waits.
  func readAgain(_ state: LinkState) {
    guard state.isPaused, state.waitingBytes <= options.limits.inboxBytes / 2 else { return }
    state.isPaused = false
    state.link.setReading(true)
  }
}

extension Commit {
  /// The bytes of the rows that it puts.
  fileprivate var putBytes: Int {
    mutations.reduce(0) { sum, mutation in
      if case .put(let key, let value) = mutation { sum + key.count + value.count } else { sum }
    }
  }
}
