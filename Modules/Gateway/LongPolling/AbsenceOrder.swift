/// Names in the order in which they were added, of which any can be removed. Each call takes O(1),
/// spread over all.
struct AbsenceOrder<Name: Hashable> {
  /// The names that are in, with the numbers under which they were added.
  private var numbers: [Name: UInt64] = [:]
  /// All that were added, without the first ones; of those that were removed or added again since,
  /// less than half.
  private var queue: [(number: UInt64, name: Name)] = []
  /// The entries of ``queue`` before this index are done with.
  private var head = 0
  /// The number of the newest entry; a name that is added again gets a new one, and its old
  /// entry no longer counts.
  private var next: UInt64 = 0

  var isEmpty: Bool { numbers.isEmpty }

  /// Puts a name behind all others.
  mutating func add(_ name: Name) {
    next += 1
    numbers[name] = next
    queue.append((next, name))
    if queue.count > 2 * numbers.count + 16 { tidy() }
  }

  /// Removes a name; its entry in the queue is skipped later.
  mutating func remove(_ name: Name) { numbers[name] = nil }

  /// The name that has been in for the longest time; `nil` for none.
  mutating func first() -> Name? {
    while head < queue.count {
      let (number, name) = queue[head]
      if numbers[name] == number { return name }
      head += 1
    }
    return nil
  }

  /// Drops the entries that do not count: more than half of the queue each time, so that each
  /// addition costs O(1) over all.
  private mutating func tidy() {
    queue = queue[head...].filter { numbers[$0.name] == $0.number }
    head = 0
  }
}
