/// Pending inputs, served to the addresses whose inputs have cost least, and to the links of each
/// likewise.
///
/// What comes over one link stays in order, and so do the requests without a session of one
/// address. How much waits for one address or link does not matter to the others, nor what it costs
/// beyond the piece of work under way.
struct FairQueue: Sendable {
  /// The most inputs of one link that are taken before it is another's turn.
  static let turn = 8

  /// One address: its links, and its requests without a session.
  private struct Client {
    var turns = TurnOrder<Int>()
    var requests = InputLane()
  }

  private struct Link {
    var lane = InputLane()
    var address = ""
  }

  /// Stands for the requests without a session among the slots of an address.
  private static let requests = -1

  /// By slot.
  private var links: [Link] = []
  /// The addresses with something that waits.
  private var clients: [String: Client] = [:]
  private var turns = TurnOrder<String>()
  /// The server's own inputs, behind which no client waits.
  private var own = InputLane()
  private(set) var count = 0

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
      if case .opened(_, _, let address) = input { links[slot].address = address }
      links[slot].lane.append(input)
      queueTurn(of: slot)
    }
  }

  private mutating func makeLink(_ slot: Int) {
    while links.count <= slot { links.append(Link()) }
  }

  private mutating func queueTurn(of slot: Int) {
    if links[slot].lane.isHeld || links[slot].lane.isEmpty { return }
    queueTurn(of: slot, links[slot].address)
  }

  private mutating func queueTurn(of slot: Int, _ address: String) {
    clients[address, default: Client()].turns.enqueue(slot)
    turns.enqueue(address)
  }

  /// Takes nothing more of a slot until it is released.
  mutating func hold(_ slot: Int) {
    makeLink(slot)
    links[slot].lane.isHeld = true
  }

  /// Takes again of a slot that was held.
  mutating func release(_ slot: Int) {
    guard links.indices.contains(slot), links[slot].lane.isHeld else { return }
    links[slot].lane.isHeld = false
    queueTurn(of: slot)
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

  /// Puts inputs that were taken and not decided before everything else of their origins.
  mutating func putBack(_ inputs: [ServerInput]) {
    count += inputs.count
    for (origin, inputs) in Dictionary(grouping: inputs, by: \.origin) {
      switch origin {
      case .server: own.putBack(inputs)
      case .address(let address):
        clients[address, default: Client()].requests.putBack(inputs)
        turns.refund(address, inputs.count)
      case .slot(let slot):
        links[slot].lane.putBack(inputs)
        turns.refund(links[slot].address, inputs.count)
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

  /// Removes and returns everything, what is held included.
  mutating func takeAll() -> [ServerInput] {
    for slot in links.indices { release(slot) }
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
      if !links[slot].lane.isHeld { Self.take(share, &links[slot].lane, &room, into: &inputs) }
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

  // Static, for a method would hold a copy of all lanes while it changes one.
  private static func take(
    _ limit: Int, _ lane: inout InputLane, _ room: inout Int, into inputs: inout [ServerInput]
  ) {
    for _ in 0..<limit where !lane.isEmpty && room > 0 {
      let input = lane.next()
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
      .judge(let slot, _, _), .closed(let slot), .more(let slot):
      .slot(slot)
    case .direct(_, let request): .address(request.address)
    case .adopt, .heard, .tick, .room, .goOn: .server
    }
  }
}
