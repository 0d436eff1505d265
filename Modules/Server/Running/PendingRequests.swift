/// The requests that wait for an answer of the machine, by their number.
struct PendingRequests {
  typealias Answering = @Sendable (DirectAnswer) -> Void

  private var waiting: [UInt64: Answering] = [:]
  private var last: UInt64 = 0

  /// The number of requests that wait.
  var count: Int { waiting.count }

  /// Adds a request.
  ///
  /// - Returns: Its number.
  mutating func add(_ answer: @escaping Answering) -> UInt64 {
    last += 1
    waiting[last] = answer
    return last
  }

  /// Removes and returns the recipient of an answer.
  mutating func remove(_ number: UInt64) -> Answering? { waiting.removeValue(forKey: number) }

  /// Removes and returns all recipients, in order.
  mutating func removeAll() -> [Answering] {
    exchange(&waiting, with: [:]).sorted { $0.key < $1.key }.map(\.value)
  }
}
