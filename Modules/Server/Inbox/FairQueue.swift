/// Pending inputs in the order of fair queueing: addresses by what their inputs have cost so far,
/// and the links of an address likewise.
///
/// The inputs of one link stay in order, and so do the requests without a session of one address.
/// Neither the number of inputs that wait for one address nor their cost delays the others, except
/// for the input that is being decided.
struct FairQueue: Sendable {
  /// The most inputs of one link that are taken before it is another's turn.
  static let turn = 8

  /// One address: its links, and its requests without a session.
  private struct Client {
    var turns = TurnOrder<Int>()
    var requests = InputQueue()
  }

  private struct Link {
    var queue = InputQueue()
    var address = ""
  }

  /// Stands for the requests without a session among the slots of an address.
  private static let requests = -1

  /// By slot.
  private var links: [Link] = []
  /// The addresses with something that waits.
  private var clients: [String: Client] = [:]
  private var turns = TurnOrder<String>()
  /// The server's own inputs, which delay no client.
  private var own = InputQueue()
  private(set) var count = 0
  /// The slots that wait for the end of a read.
  private(set) var reading: Set<Int> = []

  /// True when nothing can be taken now.
  var isEmpty: Bool { own.isEmpty && turns.isEmpty }

  mutating func append(_ input: ServerInput) {
    count += 1
    switch input.origin {
    case .server: own.append(input)
    case .address(let address):
      clients[address, default: Client()].requests.append(input)
      queueTurn(of: Self.requests, address)
    case .slot(let slot):
      makeLink(slot)
      if case .opened(_, _, let address) = input {
        links[slot].address = address
        endReading(slot)
      }
      links[slot].queue.append(input)
      queueTurn(of: slot)
    }
  }

  /// The number of inputs of a link that wait.
  func count(of slot: Int) -> Int { links.indices.contains(slot) ? links[slot].queue.count : 0 }

  private mutating func makeLink(_ slot: Int) {
    while links.count <= slot { links.append(Link()) }
  }

  private mutating func queueTurn(of slot: Int) {
    if links[slot].queue.isHeld || links[slot].queue.isEmpty { return }
    queueTurn(of: slot, links[slot].address)
  }

  private mutating func queueTurn(of slot: Int, _ address: String) {
    clients[address, default: Client()].turns.enqueue(slot)
    turns.enqueue(address)
  }

  /// Takes nothing more of a slot that leaves much output unread, until it is released.
  mutating func hold(_ slot: Int) {
    makeLink(slot)
    links[slot].queue.leavesOutput = true
  }

  /// Takes again of a slot that was held, unless it waits for the end of a read.
  mutating func release(_ slot: Int) {
    guard links.indices.contains(slot), links[slot].queue.leavesOutput else { return }
    links[slot].queue.leavesOutput = false
    queueTurn(of: slot)
  }

  /// Takes nothing more of the slot of a read until that has ended, or the link has.
  mutating func hold(for job: ReadJob) {
    makeLink(job.slot)
    links[job.slot].queue.read = job
    reading.insert(job.slot)
  }

  /// Takes the end of a read; that of one which holds its link goes before all that waits there.
  /// The end of one that its link no longer waits for is dropped.
  mutating func append(_ job: ReadJob) {
    if let (ticket, request, _) = job.direct {
      return append(.readDirect(ticket: ticket, request, job))
    }
    guard job.holdsLink else { return append(.read(slot: job.slot, job)) }
    guard links.indices.contains(job.slot), links[job.slot].queue.read === job else { return }
    endReading(job.slot)
    links[job.slot].queue.putBack([.read(slot: job.slot, job)])
    count += 1
    queueTurn(of: job.slot)
  }

  /// Takes again of a slot whose link has ended, whatever held it.
  mutating func releaseAll(_ slot: Int) {
    guard links.indices.contains(slot) else { return }
    links[slot].queue.leavesOutput = false
    endReading(slot)
    queueTurn(of: slot)
  }

  private mutating func endReading(_ slot: Int) {
    guard links[slot].queue.read != nil else { return }
    links[slot].queue.read = nil
    reading.remove(slot)
  }

  /// Counts what inputs have cost, in steps, for their addresses and links.
  mutating func charge(_ costs: [InputCost]) {
    for cost in costs {
      switch cost.origin {
      case .server: break
      case .address(let address):
        turns.charge(address, cost.steps)
        clients[address]?.turns.charge(Self.requests, cost.steps)
      case .slot(let slot):
        guard links.indices.contains(slot) else { continue }
        let address = links[slot].address
        turns.charge(address, cost.steps)
        clients[address]?.turns.charge(slot, cost.steps)
      }
    }
  }

  /// Takes over what a batch has cost, what it has left undecided, and what follows from it.
  ///
  /// - Parameter isOpen: Whether the link in a slot has not ended.
  mutating func goOn(behind plan: ServerPlan, isOpen: (Int) -> Bool) {
    charge(plan.costs)
    // A read that was cancelled meanwhile has lost its link.
    for job in plan.reads where job.holdsLink && !job.isCancelled && isOpen(job.slot) {
      hold(for: job)
    }
    putBack(plan.deferred)
    if plan.isUnfinished { append(.goOn) }
    for (slot, job) in plan.shared { append(.read(slot: slot, job)) }
  }

  /// Puts inputs that were taken and not decided before everything else of their origins.
  mutating func putBack(_ inputs: [ServerInput]) {
    count += inputs.count
    for (origin, inputs) in Dictionary(grouping: inputs, by: \.origin) {
      switch origin {
      case .server: own.putBack(inputs)
      case .address(let address):
        clients[address, default: Client()].requests.putBack(inputs)
        refund(inputs.count, of: Self.requests, address)
      case .slot(let slot):
        links[slot].queue.putBack(inputs)
        refund(inputs.count, of: slot, links[slot].address)
      }
    }
    // In the order they came, not in that of the dictionary.
    for input in inputs {
      switch input.origin {
      case .server: break
      case .address(let address): queueTurn(of: Self.requests, address)
      case .slot(let slot): queueTurn(of: slot)
      }
    }
  }

  private mutating func refund(_ count: Int, of slot: Int, _ address: String) {
    turns.refund(address, count)
    clients[address]?.turns.refund(slot, count)
  }

  /// Removes and returns everything, what is held included.
  mutating func takeAll() -> [ServerInput] {
    for slot in links.indices { releaseAll(slot) }
    return take(count)
  }

  /// Removes and returns the next inputs.
  ///
  /// - Parameters:
  ///   - limit: The most inputs.
  ///   - limitBytes: No further input is taken behind frames of so many bytes.
  mutating func take(_ limit: Int, limitBytes: Int = .max) -> [ServerInput] {
    var inputs: [ServerInput] = []
    inputs.reserveCapacity(min(limit, count))
    while inputs.count < limit, !own.isEmpty { inputs.append(own.next()) }
    var room = limitBytes
    turns.beginRound()
    while inputs.count < limit, room > 0, let address = turns.next() {
      takeTurn(of: address, limit, &room, into: &inputs)
    }
    count -= inputs.count
    return inputs
  }

  private mutating func takeTurn(
    of address: String, _ limit: Int, _ room: inout Int, into inputs: inout [ServerInput]
  ) {
    guard let slot = clients[address]?.turns.next() else {
      clients[address] = nil
      return
    }
    // A link that is alone need not wait for itself.
    let isAlone = turns.isEmpty && clients[address]?.turns.isEmpty != false
    let share = min(isAlone ? limit : Self.turn, limit - inputs.count)
    let before = inputs.count
    if slot == Self.requests {
      Self.take(share, &clients[address, default: Client()].requests, &room, into: &inputs)
      if clients[address]?.requests.isEmpty == false { queueTurn(of: slot, address) }
    } else {
      if !links[slot].queue.isHeld { Self.take(share, &links[slot].queue, &room, into: &inputs) }
      queueTurn(of: slot)
    }
    let taken = inputs.count - before
    turns.charge(address, taken)
    clients[address]?.turns.charge(slot, taken)
    if clients[address]?.turns.isEmpty == false {
      turns.enqueue(address)
    } else if clients[address]?.requests.isEmpty == true {
      clients[address] = nil
    }
  }

  // Static, for a method would hold a copy of all queues while it changes one.
  private static func take(
    _ limit: Int, _ queue: inout InputQueue, _ room: inout Int, into inputs: inout [ServerInput]
  ) {
    for _ in 0..<limit where !queue.isEmpty && room > 0 {
      let input = queue.next()
      room -= input.frameBytes
      inputs.append(input)
    }
  }
}

/// The steps that deciding an input took.
package struct InputCost: Hashable, Sendable {
  package let origin: InputOrigin
  package let steps: Int
}

/// The place an input comes from.
package enum InputOrigin: Hashable, Sendable {
  /// A link.
  case slot(Int)
  /// An address, with requests that have no session.
  case address(String)
  /// The server itself.
  case server
}

extension ServerInput {
  /// The bytes of the frame it is, as it arrived.
  var frameBytes: Int {
    switch self {
    case .frame(_, let frame): frame.count
    case .prepared(_, let prepared): prepared.frameBytes
    default: 0
    }
  }

  /// The link it came over.
  var slot: Int? {
    if case .slot(let slot) = origin { slot } else { nil }
  }

  /// The place it comes from.
  var origin: InputOrigin {
    switch self {
    case .opened(let slot, _, _), .frame(let slot, _), .prepared(let slot, _),
      .judge(let slot, _, _), .closed(let slot), .more(let slot), .read(let slot, _):
      .slot(slot)
    case .direct(_, let request), .readDirect(_, let request, _): .address(request.address)
    case .adopt, .heard, .followed, .tick, .room, .goOn: .server
    }
  }
}
