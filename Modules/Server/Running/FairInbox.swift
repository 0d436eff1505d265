/// What waits to be decided, so that nobody who sends much keeps the others from their turn.
///
/// What comes over one link stays in order. Links take turns, with a few inputs each; how long the
/// queue of one is does not matter to the others.
struct FairInbox {
  /// The most inputs of one link that are taken before it is another's turn.
  static let turn = 8

  private struct Lane {
    var waiting: [ServerInput] = []
    /// How many of them were taken.
    var taken = 0

    var isEmpty: Bool { taken == waiting.count }

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
  /// What comes over no link, or over one of its own: it takes part as one more.
  private var others = Lane()
  /// The slots whose turn will come, each once; -1 stands for the others.
  private var turns: [Int] = []
  private var firstTurn = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func append(_ input: ServerInput) {
    count += 1
    guard let slot = input.slot else {
      if others.isEmpty { turns.append(-1) }
      others.waiting.append(input)
      return
    }
    while lanes.count <= slot { lanes.append(Lane()) }
    if lanes[slot].isEmpty { turns.append(slot) }
    lanes[slot].waiting.append(input)
  }

  /// Removes and returns the next inputs, at most `limit`.
  mutating func take(_ limit: Int) -> [ServerInput] {
    var inputs: [ServerInput] = []
    inputs.reserveCapacity(min(limit, count))
    while inputs.count < limit, firstTurn < turns.count {
      let slot = turns[firstTurn]
      firstTurn += 1
      // A link that is alone need not wait for itself.
      let share = firstTurn == turns.count ? limit : Self.turn
      if take(min(share, limit - inputs.count), of: slot, into: &inputs) { turns.append(slot) }
    }
    if firstTurn == turns.count || firstTurn >= Lane.kept {
      turns.removeSubrange(..<firstTurn)
      firstTurn = 0
    }
    count -= inputs.count
    return inputs
  }

  /// - Returns: Whether more of that slot waits.
  private mutating func take(
    _ limit: Int, of slot: Int, into inputs: inout [ServerInput]
  ) -> Bool {
    if slot < 0 {
      for _ in 0..<limit where !others.isEmpty { inputs.append(others.next()) }
      return !others.isEmpty
    }
    for _ in 0..<limit where !lanes[slot].isEmpty { inputs.append(lanes[slot].next()) }
    return !lanes[slot].isEmpty
  }
}

extension ServerInput {
  /// The link it came over.
  fileprivate var slot: Int? {
    switch self {
    case .opened(let slot, _, _), .frame(let slot, _), .closed(let slot): slot
    case .direct, .adopt, .tick, .room: nil
    }
  }
}
