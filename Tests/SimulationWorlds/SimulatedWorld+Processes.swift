import TernClient
import TernServer
import TernStorage
import TernSync
import TernTestKit

// What the processes of all clients have in common: they come and go, and have links and disks.

extension SimulatedWorld {
  func start(_ device: SimulatedDevice) {
    switch device {
    case let client as SimulatedClient: startClient(client.index)
    case let client as SimulatedDocumentClient: startDocumentClient(client.index)
    default: preconditionFailure("there are clients of two models")
    }
  }

  /// A client's process ends in the middle of whatever it does.
  func crash(_ device: SimulatedDevice) {
    guard let process = device.process else { return }
    process.isDead = true
    if let run = process as? ClientRun {
      for note in run.transactions.values where !note.isDeclared { model.lost(note.counter) }
    }
    switch device {
    case let client as SimulatedClient: client.run = nil
    case let client as SimulatedDocumentClient: ended(client)
    default: break
    }
    device.queueDisk.crash()
    device.cacheDisk.crash()
    if let link = process.link {
      if chance.happens(0.5) { link.fallSilent() } else { lose(link) }
    }
    plan(.clientStarts(device), after: isHealed ? 0...0 : 0...10_000)
  }

  /// Carries out what a machine owes, as its session would.
  func carryOut(_ process: any ClientProcess) {
    switch process {
    case let run as ClientRun: carryOut(run)
    case let run as DocumentRun: carryOut(run)
    default: break
    }
  }

  /// Sends what a machine has said in one turn.
  func flush(_ frames: inout [[UInt8]], _ run: any ClientProcess) {
    guard !frames.isEmpty else { return }
    defer { frames.removeAll() }
    note(frames, "\(run.name)>")
    guard let link = run.link, link.isOpenAtClient else { return }
    if let run = run as? ClientRun { noteSent(frames, over: link, run) }
    if link.isLost { return }
    link.lastUp = max(link.lastUp, clock.now + chance.within(link.latency))
    agenda.add(.arrivesAtServer(link, frames), at: link.lastUp)
  }

  func arrivedAtClient(_ chunk: Chunk, over link: SimulatedLink) {
    let process = link.process
    guard !link.losesDown, !link.isOverAtClient, !process.isDead else { return }
    guard process.link === link else {
      // The link was left, and the machine has to know that by itself.
      process.received(chunk.frames, on: link.number)
      return carryOut(process)
    }
    if chunk.hasNews {
      if chunk.after < process.device.newestTold {
        disagree("\(process.name) is told v\(chunk.after) after v\(process.device.newestTold)")
      }
      process.device.newestTold = chunk.after
    }
    switch process {
    case let run as ClientRun: arrived(chunk, over: link, at: run)
    case let run as DocumentRun: arrived(chunk, over: link, at: run)
    default: break
    }
  }

  private func lostLink(_ process: any ClientProcess) {
    if let run = process as? ClientRun { connectionEnded(run) }
  }

  // MARK: Links

  /// An attempt goes its way, and its end is told, whether it was given up meanwhile or not.
  func connect(_ run: any ClientProcess, _ number: Int) {
    guard !run.isDead else { return }
    if run.device.isPartitioned { return attemptInVain(run, number) }
    guard let server = serverToConnect() else {
      return plan(.linkFailed(run, number: number), after: 0...200)
    }
    lastLink += 1
    let isSlow = faults.contains(.lateFrame) && !isHealed && chance.happens(0.3)
    let link = SimulatedLink(
      id: lastLink, process: run, number: number, to: server,
      latency: isSlow ? 0...2_500 : 0...40)
    switch server {
    case .run(let server):
      server.add(link)
      server.inbox.append(.opened(slot: link.slot, isLocal: true))
      decideSoon(server)
    case .node(let process):
      guard let cluster, accept(link, at: process, cluster) else {
        return plan(.linkFailed(run, number: number), after: 0...200)
      }
    }
    let isVerySlow = isSlow && chance.happens(0.1)
    link.lastDown = clock.now + chance.within(isVerySlow ? 10_000...45_000 : link.latency)
    agenda.add(.linkOpened(link), at: link.lastDown)
  }

  /// Fails an attempt to connect: at once or late. The attempt may also succeed later, or never
  /// end.
  private func attemptInVain(_ run: any ClientProcess, _ number: Int) {
    switch chance.below(4) {
    case 0: plan(.linkFailed(run, number: number), after: 0...5_000)
    case 1: plan(.linkFailed(run, number: number), after: 0...45_000)
    case 2 where !isHealed: plan(.connect(run, number: number), after: 1_000...45_000)
    default: break
    }
  }

  func opened(_ link: SimulatedLink) {
    let run = link.process
    guard !link.losesDown else { return }
    guard !run.isDead, run.isCurrentLink(link.number) else { return hangUp(link) }
    run.link = link
    run.connectionEvent(.linkOpened(link.number))
    carryOut(run)
  }

  func closeLink(_ number: Int, _ run: any ClientProcess) {
    guard let link = run.link, link.number == number else { return }
    run.link = nil
    lostLink(run)
    hangUp(link)
  }

  /// The client's end is closed: what was sent still travels, and the end is told later.
  private func hangUp(_ link: SimulatedLink) {
    link.isOpenAtClient = false
    plan(.clientSeesEnd(link), after: chance.happens(0.1) ? 0...5_000 : 0...50)
    if link.isLost { return }
    link.lastUp = max(link.lastUp, clock.now + chance.within(link.latency))
    agenda.add(.serverSeesEnd(link), at: link.lastUp)
  }

  func clientLost(_ link: SimulatedLink) {
    let run = link.process
    // Only the side that closes a silent link sees its end.
    if run.isDead || link.isOverAtClient || link.isSilent && link.isOpenAtClient { return }
    link.isOverAtClient = true
    link.isOpenAtClient = false
    if run.link === link || run.isCurrentLink(link.number) {
      run.link = nil
      lostLink(run)
    }
    run.connectionEvent(.linkClosed(link.number))
    carryOut(run)
  }

  // MARK: The queue

  /// The queues' disk takes everything that waits, what is of one user in one transaction.
  func storeQueue(_ run: any ClientProcess) {
    guard !run.isDead else { return }
    let jobs = run.jobs
    run.jobs.removeAll()
    let results = run.shelf.apply(jobs.map { ($0.user, $0.change) })
    for (job, result) in zip(jobs, results) {
      for words in queued(job, result, run) { disagree("\(run.name): \(words)") }
      if case .purge(let newClient) = job.change, case .purged = result {
        run.streams[job.user] = newClient
      }
    }
    if results.contains(.failed(.storage(.closed))) { return crash(run.device) }
    let answers = zip(jobs, results).map { (ticket: $0.ticket, result: $1) }
    plan(.queueAnswers(run, answers), after: 0...3)
  }

  func queueStored(_ answers: [(ticket: UInt64, result: QueueResult)], _ run: any ClientProcess) {
    guard !run.isDead else { return }
    for (ticket, result) in answers {
      run.queueAnswered(ticket, result)
    }
    run.isWriting = false
    carryOut(run)
  }

  /// Tells the model what a queue has made durable.
  private func queued(
    _ job: SimulatedJob, _ result: QueueResult, _ process: any ClientProcess
  ) -> [String] {
    guard let stream = process.streams[job.user] else { return [] }
    let name = QueueName(device: process.name, user: job.user)
    switch process {
    case is ClientRun: return model.queued(job.change, result, of: name, stream).map { [$0] } ?? []
    case let run as DocumentRun: return queued(job, result, of: name, stream, run)
    default: return []
    }
  }
}
