import TernTransport

/// Bounds the pushes of a batch while they are made: one write can have as many as there are
/// listens, each as large as its data, and none of them counts as output before all are made.
///
/// A link that would be sent too much gets no further push and is ended, as one that leaves too
/// much unread is. Source: Docs/Decisions/0022-one-memory-budget.md.
struct PushBounds {
  /// The answer to the question whether a link may be sent a frame.
  enum Verdict: Equatable {
    case admitted
    /// No, and the link is to be ended for this reason.
    case ends(SessionEnd)
    /// No: the link has been ended.
    case ended
  }

  /// The bytes that the budget allows.
  private struct Limits {
    /// The most for one link.
    let link: Int
    /// The most for all links together.
    let total: Int
    /// Links with no more than this are not the cause when there is too much.
    let small: Int
    /// The bytes for all links behind which those of each are counted.
    let uncounted: Int

    init(_ budget: MemoryBudget, queuedBytes: Int) {
      link = min(queuedBytes, budget.addressBytes)
      total = max(budget.outputRoomBytes, budget.reservedBytes)
      small = budget.floorBytes / 4
      uncounted = min(link, total) / 4
    }
  }

  /// Shorter frames are not counted: the memory that a listen is charged with is about as much.
  static let countedBytes = 1_024

  /// The most bytes of rows that are read for one push.
  let readBytes: Int
  private let budget: MemoryBudget
  private let queuedBytes: Int
  /// Asked for with the first frame that counts.
  private lazy var limits = Limits(budget, queuedBytes: queuedBytes)
  /// Bytes of different frames that were made.
  private var made = 0
  /// Bytes for each link, by slot, since they are counted.
  private var bytesBySlot: [Int: Int] = [:]
  /// The slots of the links that were ended.
  private var ended: Set<Int> = []

  init(_ budget: MemoryBudget, _ limits: ServerLimits) {
    self.budget = budget
    queuedBytes = limits.queuedBytes
    readBytes = limits.readBytes(within: budget.limitBytes)
  }

  /// True when a link was ended.
  var hasEnded: Bool { !ended.isEmpty }

  /// Returns true when a link was ended.
  func hasEnded(_ slot: Int) -> Bool { ended.contains(slot) }

  /// Counts a frame for a link, if that may be sent it.
  ///
  /// - Parameter isNew: Whether the frame was sent to no link yet.
  mutating func admit(_ bytes: Int, for slot: Int, isNew: inout Bool) -> Verdict {
    if ended.contains(slot) { return .ended }
    let sum = isNew ? made + bytes : made
    if sum > limits.uncounted {
      let held = bytesBySlot[slot, default: 0]
      if let end = objection(to: bytes, behind: held, isNew: isNew) {
        ended.insert(slot)
        return .ends(end)
      }
      bytesBySlot[slot] = held + bytes
    }
    (made, isNew) = (sum, false)
    return .admitted
  }

  private mutating func objection(
    to bytes: Int, behind held: Int, isNew: Bool
  ) -> SessionEnd? {
    let tooMuch = SessionEnd.outOfMemory(queuedBytes: held)
    // The first push of a batch goes out whatever its size, as a single answer does.
    if isNew, made > 0, made + bytes > limits.total { return tooMuch }
    if held == 0 { return nil }
    if held + bytes > limits.link {
      return .tooSlow(queuedBytes: held + bytes, limit: limits.link)
    }
    // The last quarter is left for links that have got little.
    if isNew, made + bytes > limits.total / 4 * 3, held + bytes > limits.small { return tooMuch }
    return nil
  }
}
