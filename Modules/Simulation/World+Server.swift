import TernLedger
import TernServer
import TernStorage
import TernTestKit

/// The disk under the server.
struct DisksOfServer {
  let ledger = FaultyDisk()
}

extension World {
  /// Starts the server's process over what its disk holds.
  func startServer() {
    guard server == nil else { return }
    do throws(LedgerError) {
      let run = try ServerRun(over: serverDisk.ledger.open(), wall: serverWall, bits: serverBits)
      try run.restore(uptime: clock.now)
      server = run
      follow(run.ledger, [:])
      plan(.serverTicks(run), after: 5_000...5_000)
    } catch {
      disagree("the server does not start: \(error)")
    }
  }

  /// The server's process ends in the middle of whatever it does.
  func crashServer() {
    guard let run = server else { return }
    serverDisk.ledger.crash()
    for link in run.links.values.sorted(by: { $0.id < $1.id }) { lose(link) }
    server = nil
    plan(.serverStarts, after: isHealed ? 0...0 : 0...8_000)
  }

  /// A link ends with what is on its way; its ends hear of it in their own time.
  func lose(_ link: SimulatedLink) {
    link.isCut = true
    plan(.clientSeesEnd(link), after: 0...50)
    plan(.serverSeesEnd(link), after: 0...50)
  }

  func tick(_ run: ServerRun) {
    guard server === run else { return }
    run.inbox.append(.tick)
    decideSoon(run)
    plan(.serverTicks(run), after: 5_000...5_000)
  }

  func arrivedAtServer(_ frames: [[UInt8]], over link: SimulatedLink) {
    guard server === link.run, !link.isLost, link.isOpenAtServer, !link.isClosedByServer else {
      return
    }
    for frame in frames { link.run.inbox.append(.frame(slot: link.slot, frame)) }
    decideSoon(link.run)
  }

  func serverLost(_ link: SimulatedLink) {
    guard server === link.run, link.isOpenAtServer else { return }
    link.isOpenAtServer = false
    link.run.links[link.slot] = nil
    link.run.inbox.append(.closed(slot: link.slot))
    link.run.giveBack(link.slot)
    decideSoon(link.run)
  }

  func decideSoon(_ run: ServerRun) {
    guard !run.isDeciding, !run.inbox.isEmpty else { return }
    run.isDeciding = true
    plan(.serverDecides(run), after: chance.happens(0.05) ? 0...60 : 0...2)
  }

  /// One turn of the server: decide what waits, make it durable, tell.
  func decide(_ run: ServerRun) {
    guard server === run else { return }
    run.isDeciding = false
    var inputs: [ServerInput] = []
    swap(&inputs, &run.inbox)
    let links = senders(of: inputs, run)
    do throws(LedgerError) {
      let (outputs, before, after) = try run.decide(
        inputs, now: serverWall.now, uptime: clock.now)
      follow(run.ledger, links)
      perform(outputs, run, before, after)
    } catch {
      recover(run, from: error)
    }
    decideSoon(run)
  }

  private func recover(_ run: ServerRun, from error: LedgerError) {
    trace.note("server: \(error)")
    guard case .storage(.diskFull) = error else { return crashServer() }
    for link in run.links.values.sorted(by: { $0.id < $1.id }) { close(link) }
    run.inbox.removeAll()
    do throws(LedgerError) {
      try run.restore(uptime: clock.now)
    } catch {
      crashServer()
    }
  }

  private func perform(
    _ outputs: [ServerOutput], _ run: ServerRun, _ before: Version, _ after: Version
  ) {
    var frames: [Int: [[UInt8]]] = [:]
    for output in outputs {
      switch output {
      case .send(let slot, let frame): frames[slot, default: []].append(frame)
      case .broadcast(let slots, let frame):
        for slot in slots { frames[slot, default: []].append(frame) }
      case .answer: preconditionFailure("nobody asks without a session here")
      case .close(let slot, _):
        guard let link = run.links[slot] else { continue }
        if let rest = frames.removeValue(forKey: slot) {
          // What the batch did after this session's end, nobody tells it.
          send(Chunk(frames: rest, before: before, after: after, isLast: false), over: link)
        }
        close(link)
      }
    }
    for (slot, frames) in frames.sorted(by: { $0.key < $1.key }) {
      guard let link = run.links[slot], !link.isClosedByServer else { continue }
      send(Chunk(frames: frames, before: before, after: after, isLast: true), over: link)
    }
  }

  private func close(_ link: SimulatedLink) {
    guard !link.isClosedByServer else { return }
    link.isClosedByServer = true
    plan(.serverSeesEnd(link), after: 0...1)
    if link.isLost { return }
    link.lastDown = max(link.lastDown, clock.now + chance.within(link.latency))
    agenda.add(.clientSeesEnd(link), at: link.lastDown)
  }

  private func send(_ chunk: Chunk, over link: SimulatedLink) {
    note(chunk.frames, "s>\(link.process.name)")
    if link.isLost { return }
    var rest = chunk
    while rest.frames.count > 1, faults.contains(.lateFrame), !isHealed, chance.happens(0.3) {
      let count = 1 + chance.below(rest.frames.count - 1)
      var part = rest
      part.frames = Array(rest.frames.prefix(count))
      part.isLast = false
      rest.frames.removeFirst(count)
      deliver(part, over: link)
    }
    deliver(rest, over: link)
  }

  private func deliver(_ chunk: Chunk, over link: SimulatedLink) {
    link.lastDown = max(link.lastDown, clock.now + chance.within(link.latency))
    agenda.add(.arrivesAtClient(link, chunk), at: link.lastDown)
  }
}
