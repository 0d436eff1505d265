import TernClient
import TernSync

/// The future events by time; of two at one time, the one planned first.
struct EventQueue {
  private struct Entry {
    let time: Int64
    let order: UInt64
    let event: WorldEvent

    func precedes(_ other: Entry) -> Bool { (time, order) < (other.time, other.order) }
  }

  private var heap: [Entry] = []
  private var lastOrder: UInt64 = 0

  mutating func add(_ event: WorldEvent, at time: Int64) {
    lastOrder += 1
    heap.append(Entry(time: time, order: lastOrder, event: event))
    var child = heap.count - 1
    while child > 0, heap[child].precedes(heap[(child - 1) / 2]) {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func next() -> (time: Int64, event: WorldEvent)? {
    guard let first = heap.first, let last = heap.popLast() else { return nil }
    if heap.isEmpty { return (first.time, first.event) }
    heap[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < heap.count && heap[child].precedes(heap[least]) {
        least = child
      }
      if least == parent { break }
      heap.swapAt(least, parent)
      parent = least
    }
    return (first.time, first.event)
  }
}

/// One thing that happens in a world.
enum WorldEvent {
  /// A client's attempt to connect reaches the server, or does not.
  case connect(any ClientProcess, number: Int)
  case linkFailed(any ClientProcess, number: Int)
  case linkOpened(SimulatedLink)
  case arrivesAtServer(SimulatedLink, [[UInt8]])
  case arrivesAtClient(SimulatedLink, Chunk)
  case serverSeesEnd(SimulatedLink)
  case clientSeesEnd(SimulatedLink)
  case serverDecides(ServerRun)
  case serverTells(ServerRun, Told)
  case serverTicks(ServerRun)
  case serverStarts
  case queueWrites(any ClientProcess)
  case queueAnswers(any ClientProcess, [(ticket: UInt64, result: QueueResult)])
  case timer(ClientRun, TimerName, generation: Int)
  case documentTimer(DocumentRun, DocumentTimer, generation: Int)
  case clientActs(Int)
  case documentClientActs(Int)
  case clientStarts(SimulatedDevice)
  case partitionEnds(SimulatedDevice)
  case tokenArrives(SimulatedDevice, inPlaceOf: String)
  case wakes(SimulatedDevice)
  case serverWakes(ServerProcess)
  case mishap
  case operatorActs
  case nodeStarts(ClusterNode)
  case nodeSteps(NodeProcess)
  /// An operation of a node goes on, or its sleep is over.
  case nodeGate(NodeProcess, NodeGate.Wait, Int)
  case logHeals(NodeProcess)
  case clusterMishap
  /// A node's request for a link to another one comes there; it was made at a time.
  case nodeConnects(NodeProcess, LinkRequest, since: Int64)
  case nodeConnected(NodeLink, LinkRequest)
  case nodeRefused(NodeProcess, LinkRequest)
  case arrivesAtNode(NodeLink, toDialer: Bool, NodeMessage)
  case nodeSeesEnd(NodeLink, atDialer: Bool, NodeEnd)
  /// A client reads from its link again.
  case readerGoesOn(SimulatedLink)
}

extension WorldEvent {
  /// A few words for the trace.
  var words: String {
    switch self {
    case .connect(let run, let number): "\(run.name) connects \(number)"
    case .linkFailed(let run, let number): "\(run.name) cannot connect \(number)"
    case .linkOpened(let link): "\(link.process.name) has link \(link.id)"
    case .arrivesAtServer(let link, let frames):
      "\(link.process.name)>s \(frames.count) on \(link.id)"
    case .arrivesAtClient(let link, let chunk):
      "s>\(link.process.name) \(chunk.frames.count) on \(link.id) v\(chunk.after)"
    case .serverSeesEnd(let link): "s sees end of \(link.id)"
    case .clientSeesEnd(let link): "\(link.process.name) sees end of \(link.id)"
    case .serverDecides(let run): "s decides \(run.inbox.count)"
    case .serverTells(_, let told): "s tells v\(told.after)"
    case .serverTicks: "s ticks"
    case .serverStarts: "s starts"
    case .queueWrites(let run): "\(run.name) stores \(run.jobs.count)"
    case .queueAnswers(let run, let answers): "\(run.name) stored \(answers.count)"
    case .timer(let run, let timer, _): "c\(run.index) timer \(timer)"
    case .documentTimer(let run, let timer, _): "\(run.name) timer \(timer)"
    case .clientActs(let index): "c\(index) acts"
    case .documentClientActs(let index): "d\(index) acts"
    case .clientStarts(let device): "\(device.name) starts"
    case .partitionEnds(let device): "\(device.name) reachable"
    case .tokenArrives(let device, _): "\(device.name) is given a token"
    case .wakes(let device): "\(device.name) wakes"
    case .serverWakes: "s wakes"
    case .mishap: "mishap"
    case .operatorActs: "the operator acts"
    case .nodeStarts(let node): "n\(node.index) starts"
    case .nodeSteps(let process): "\(process.name) steps"
    case .nodeGate(let process, let wait, _): "\(process.name) \(wait)"
    case .logHeals(let process): "\(process.name) reaches the log"
    case .clusterMishap: "mishap of the cluster"
    case .nodeConnects(let process, let request, _):
      "\(process.name) connects to \(request.address) for \(request.client)"
    case .nodeConnected(let link, _): "\(link.words) is open"
    case .nodeRefused(let process, let request): "\(process.name) has no link to \(request.address)"
    case .arrivesAtNode(let link, let toDialer, let message):
      "\(link.process(atDialer: toDialer).name) gets \(message.frames.count) on \(link.words)"
    case .nodeSeesEnd(let link, let atDialer, _):
      "\(link.process(atDialer: atDialer).name) sees end of \(link.words)"
    case .readerGoesOn(let link): "\(link.process.name) reads link \(link.id)"
    }
  }
}
