/// Counts of values by size, with fixed limits between the sizes.
package struct Histogram: Sendable {
  /// The greatest value of each bucket but the last, ascending.
  package let bounds: [Int]
  /// The counts of the buckets; the last one has no greatest value.
  package private(set) var counts: [Int]
  /// The sum of all values.
  package private(set) var sum = 0

  /// An empty histogram.
  package init(_ bounds: [Int]) {
    self.bounds = bounds
    counts = [Int](repeating: 0, count: bounds.count + 1)
  }

  /// The number of values.
  package var count: Int { counts.reduce(0, +) }

  /// Counts a value. O(number of buckets), of which there are few.
  package mutating func record(_ value: Int) {
    var index = 0
    while index < bounds.count, value > bounds[index] { index += 1 }
    counts[index] += 1
    sum &+= value
  }

  /// Durations in microseconds, from 0.1 ms to 10 s.
  package static let durations = Histogram([
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 10_000_000,
  ])

  /// Numbers of things that go together.
  package static let sizes = Histogram([1, 2, 4, 8, 16, 32, 64, 128, 256, 512])
}
