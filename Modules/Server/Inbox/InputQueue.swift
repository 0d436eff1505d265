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

  /// Room for so many inputs is kept, and the places of at least so many that were taken.
  private static let kept = 256

  var isEmpty: Bool { taken == waiting.count }

  /// The number of inputs that wait.
  var count: Int { waiting.count - taken }

  mutating func append(_ input: ServerInput) { waiting.append(input) }

  /// Puts inputs before all others.
  mutating func putBack(_ inputs: [ServerInput]) {
    // Usually they are among those that were taken last, whose places are free.
    let free = taken - inputs.count
    waiting.replaceSubrange(max(0, free)..<taken, with: inputs)
    taken = max(0, free)
  }

  /// Removes and returns the first input; there must be one.
  mutating func next() -> ServerInput {
    // What was taken is not kept alive by its place.
    let input = exchange(&waiting[taken], with: .goOn)
    taken += 1
    if isEmpty {
      waiting.removeAll(keepingCapacity: waiting.count <= Self.kept)
      taken = 0
    } else if taken >= max(Self.kept, waiting.count / 2) {
      // Moves no more inputs than were taken since the last time.
      waiting.removeSubrange(..<taken)
      taken = 0
    }
    return input
  }
}
