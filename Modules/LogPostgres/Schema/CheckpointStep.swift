import TernStorage

/// A part of an advance of a checkpoint whose changes need no order among themselves: first the
/// ranges and keys are removed, then the rows are put.
///
/// Within a step the newest change of a key wins, so that each row is written once. A range removes
/// what was put before it; rows that are put after it come after it in the step, too.
struct CheckpointStep: Sendable {
  private(set) var ranges: [KeyRange] = []
  /// The newest value of each key; `nil` for one that is removed.
  private var newest: [[UInt8]: [UInt8]?] = [:]

  /// The keys that are removed one by one.
  var removedKeys: [[UInt8]] { newest.filter { $0.value == nil }.map(\.key) }

  /// The rows that are put, in key order.
  var rows: [Row] {
    newest.compactMap { key, value in value.map { Row(key: key, value: $0) } }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
  }

  /// Splits changes, which apply in order, into steps.
  static func steps(of changes: [Mutation]) -> [CheckpointStep] {
    var steps: [CheckpointStep] = []
    var step = CheckpointStep()
    for change in changes {
      if step.ranges.count >= PostgresLimits.rangesPerStep {
        steps.append(step)
        step = CheckpointStep()
      }
      step.apply(change)
    }
    return steps + [step]
  }

  private mutating func apply(_ change: Mutation) {
    switch change {
    case .put(let key, let value): newest[key] = .some(value)
    case .remove(let range):
      guard !range.isEmpty else { return }
      guard range.upper != range.lower + [0] else {
        newest[range.lower] = .some(nil)
        return
      }
      // What was put before it is removed with it.
      newest = newest.filter { !range.contains($0.key.span) }
      ranges.append(range)
    }
  }

  /// Cuts a list into pieces for statements, by number and by bytes.
  ///
  /// - Returns: Pieces of at most ``PostgresLimits/rowsPerStatement`` elements and
  ///   ``PostgresLimits/bytesPerStatement`` bytes; an element that is larger alone is a piece of
  ///   its own.
  static func pieces<Element>(
    _ elements: [Element], bytes: (Element) -> Int
  ) -> [ArraySlice<Element>] {
    var pieces: [ArraySlice<Element>] = []
    var start = 0
    var total = 0
    for (index, element) in elements.enumerated() {
      let more = bytes(element)
      let isFull =
        index - start >= PostgresLimits.rowsPerStatement
        || total + more > PostgresLimits.bytesPerStatement
      if isFull, index > start {
        pieces.append(elements[start..<index])
        (start, total) = (index, 0)
      }
      total += more
    }
    if start < elements.count { pieces.append(elements[start...]) }
    return pieces
  }
}
