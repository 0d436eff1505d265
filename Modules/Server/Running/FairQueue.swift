/// Pending inputs, served round-robin by connection.
///
/// What comes over one link stays in order. Links take turns, with a few inputs each; how long the
/// queue of one is does not matter to the others.
struct FairQueue {
  /// The most inputs of one link that are taken before it is another's turn.
  static let turn = 8

  private struct Lane {
    var waiting: [ServerInput] = []
    /// The number of inputs taken.
    var taken = 0
    /// True when its inputs are held until they are released.
    var isHeld = false
    /// True when its turn will come.
    var hasTurn = false

    var isEmpty: Bool { taken == waiting.count }

    mutating func putBack(_ inputs: [ServerInput]) {
      waiting.replaceSubrange(..<taken, with: inputs)
      taken = 0
    }

    mutating func next() -> ServerInput {
      let input = waiting[taken]
      taken += 1
      if isEmpty {
        waiting.removeAll(keepingCapacity: waiting.count <= Lane.kept)
        taken = 0
      } else if taken >= Lane.kept {
        waiting.removeSubrange(..<taken)
        taken = 0
      }
      return input
    }

    /// Room for so many inputs is kept, and no more than so many are kept that were taken.
    static let kept = 256
  }

  /// By slot.
  private var lanes: [Lane] = []
  /// The inputs without a link, or with a link of their own: they take part as one more queue.
  private var others = Lane()
  /// The slots whose turn will come, each once; -1 stands for the others.
  private var turns: [Int] = []
  private var firstTurn = 0
  private(set) var count = 0

  /// True when nothing can be taken now.
  var isEmpty: Bool { firstTurn == turns.count }

  mutating func append(_ input: ServerInput) {
    count += 1
    guard let slot = input.slot else {
      others.waiting.append(input)
      return queueTurn(of: -1)
    }
    makeLane(slot)
    lanes[slot].waiting.append(input)
    queueTurn(of: slot)
  }

  private mutating func makeLane(_ slot: Int) {
    while lanes.count <= slot { lanes.append(Lane()) }
  }

  private mutating func queueTurn(of slot: Int) {
    if slot < 0 {
      if others.hasTurn || others.isEmpty { return }
      others.hasTurn = true
    } else {
      if lanes[slot].hasTurn || lanes[slot].isHeld || lanes[slot].isEmpty { return }
      lanes[slot].hasTurn = true
    }
    turns.append(slot)
  }

  /// Takes nothing more of a slot until it is released.
  mutating func hold(_ slot: Int) {
    makeLane(slot)
    lanes[slot].isHeld = true
  }

  /// Takes again of a slot that was held.
  mutating func release(_ slot: Int) {
    guard lanes.indices.contains(slot), lanes[slot].isHeld else { return }
    lanes[slot].isHeld = false
    queueTurn(of: slot)
  }

  /// Puts inputs that were taken and not decided before everything else of their links.
  mutating func putBack(_ inputs: [ServerInput]) {
    count += inputs.count
    for (slot, inputs) in Dictionary(grouping: inputs, by: { $0.slot ?? -1 }) {
      if slot < 0 { others.putBack(inputs) } else { lanes[slot].putBack(inputs) }
    }
    // In the order they came, not in that of the dictionary.
    for input in inputs { queueTurn(of: input.slot ?? -1) }
  }

  /// Removes and returns everything, what is held included.
  mutating func takeAll() -> [ServerInput] {
    for slot in lanes.indices { release(slot) }
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
    var room = limitBytes
    while inputs.count < limit, room > 0, firstTurn < turns.count {
      let slot = turns[firstTurn]
      firstTurn += 1
      // A link that is alone need not wait for itself.
      let share = firstTurn == turns.count ? limit : Self.turn
      take(min(share, limit - inputs.count), of: slot, &room, into: &inputs)
      queueTurn(of: slot)
    }
    if firstTurn == turns.count || firstTurn >= Lane.kept {
      turns.removeSubrange(..<firstTurn)
      firstTurn = 0
    }
    count -= inputs.count
    return inputs
  }

  private mutating func take(
    _ limit: Int, of slot: Int, _ room: inout Int, into inputs: inout [ServerInput]
  ) {
    if slot < 0 {
      others.hasTurn = false
      for _ in 0..<limit where !others.isEmpty { inputs.append(others.next()) }
      return
    }
    lanes[slot].hasTurn = false
    if lanes[slot].isHeld { return }
    for _ in 0..<limit where !lanes[slot].isEmpty && room > 0 {
      let input = lanes[slot].next()
      room -= input.frameBytes
      inputs.append(input)
    }
  }
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
    switch self {
    case .opened(let slot, _, _), .frame(let slot, _), .prepared(let slot, _),
      .judge(let slot, _, _), .closed(let slot), .more(let slot):
      slot
    case .direct, .adopt, .heard, .tick, .room, .goOn: nil
    }
  }
}
