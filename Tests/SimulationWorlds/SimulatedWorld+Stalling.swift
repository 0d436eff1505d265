// Processes that stand still: an app that was put to sleep, a machine with too much to do.

extension SimulatedWorld {
  /// A client's process does nothing for a while, as far as it can tell no time at all.
  func stall(_ device: SimulatedDevice) {
    guard device.stalled == nil else { return }
    device.stalled = []
    plan(.wakes(device), after: 10...(chance.happens(0.3) ? 90_000 : 3_000))
  }

  /// The server's process does nothing for a while.
  func stallServer() {
    if let cluster {
      if let process = chance.pick(cluster.running) { pause(process) }
      return
    }
    guard let process = server?.process, process.stalled == nil else { return }
    process.stalled = []
    plan(.serverWakes(process), after: 10...(chance.happens(0.3) ? 90_000 : 3_000))
  }

  func wake(_ device: SimulatedDevice) {
    guard let events = device.stalled else { return }
    device.stalled = nil
    for event in events where disagreements.isEmpty { take(event) }
  }

  func wake(_ process: ServerProcess) {
    guard let events = process.stalled else { return }
    process.stalled = nil
    for event in events where disagreements.isEmpty { take(event) }
  }

  func wakeAll() {
    if let server { wake(server.process) }
    for process in cluster?.running ?? [] { wake(process) }
    for device in devices { wake(device) }
  }

  /// Lets a process that stands still take an event later.
  ///
  /// - Returns: Whether it does.
  func isPutOff(_ event: WorldEvent) -> Bool {
    if let device = device(of: event) {
      guard device.stalled != nil else { return false }
      device.stalled?.append(event)
      return true
    }
    guard let process = serverProcess(of: event), process.stalled != nil else { return false }
    process.stalled?.append(event)
    return true
  }

  /// Returns the delay of a timer in milliseconds, beyond the requested time.
  func lateness() -> Int64 {
    guard faults.contains(.stall), !isHealed, chance.happens(0.1) else { return 0 }
    return chance.within(0...2_000)
  }

  /// Returns the device of the client process that takes an event.
  private func device(of event: WorldEvent) -> SimulatedDevice? {
    switch event {
    case .linkFailed(let run, _), .queueWrites(let run), .queueAnswers(let run, _): run.device
    case .linkOpened(let link), .arrivesAtClient(let link, _), .clientSeesEnd(let link):
      link.process.device
    case .timer(let run, _, _): run.device
    case .documentTimer(let run, _, _): run.device
    case .clientActs(let index): clients[index]
    case .documentClientActs(let index): documentClients[index]
    case .tokenArrives(let device, _): device
    case .connect, .arrivesAtServer, .serverSeesEnd, .serverDecides, .serverTells, .serverTicks,
      .serverStarts, .clientStarts, .partitionEnds, .wakes, .serverWakes, .mishap, .operatorActs,
      .nodeStarts, .nodeSteps, .nodeGate, .logHeals, .clusterMishap, .nodeConnects,
      .nodeConnected, .nodeRefused, .arrivesAtNode, .nodeSeesEnd, .readerGoesOn:
      nil
    }
  }

  /// Returns the process of the server that takes an event.
  private func serverProcess(of event: WorldEvent) -> ServerProcess? {
    switch event {
    case .arrivesAtServer(let link, _), .serverSeesEnd(let link), .readerGoesOn(let link):
      link.server.process
    case .serverDecides(let run), .serverTells(let run, _), .serverTicks(let run): run.process
    case .nodeSteps(let process), .nodeGate(let process, .answer, _),
      .nodeGate(let process, .sleep, _), .nodeGate(let process, .turn, _),
      .nodeRefused(let process, _):
      process
    case .nodeConnected(let link, _): link.dialer
    case .arrivesAtNode(let link, let atDialer, _), .nodeSeesEnd(let link, let atDialer, _):
      link.process(atDialer: atDialer)
    default: nil
    }
  }
}
