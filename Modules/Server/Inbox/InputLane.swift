/// The inputs of one origin that wait, in order.
struct InputLane: Sendable {
  private var waiting: [ServerInput] = []
  /// The number of inputs taken.
  private var taken = 0
  /// True when its inputs are held until they are released.
  var isHeld = false

  /// Room for so many inputs is kept, and no more than so many are kept that were taken.
  private static let kept = 256

  var isEmpty: Bool { taken == waiting.count }

  mutating func append(_ input: ServerInput) { waiting.append(input) }

  /// Puts inputs before all others.
  mutating func putBack(_ inputs: [ServerInput]) {
    waiting.replaceSubrange(..<taken, with: inputs)
    taken = 0
  }

  /// Removes and returns the first input; there must be one.
  mutating func next() -> ServerInput {
    let input = waiting[taken]
    taken += 1
    if isEmpty {
      waiting.removeAll(keepingCapacity: waiting.count <= Self.kept)
      taken = 0
    } else if taken >= Self.kept {
      waiting.removeSubrange(..<taken)
      taken = 0
    }
    return input
  }
}
