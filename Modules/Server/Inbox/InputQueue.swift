/// The inputs of one origin that wait, in order.
struct InputQueue: Sendable {
  private var waiting: [ServerInput] = []
  /// The number of inputs taken.
  private var taken = 0
  /// True while its link leaves much output unread.
  var leavesOutput = false
  /// The read whose end its other inputs wait for.
  var read: ReadJob?

  /// True when its inputs are held, for either reason.
  var isHeld: Bool { leavesOutput || read != nil }

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
    // What was taken is not kept alive by its place.
    let input = exchange(&waiting[taken], with: .goOn)
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
