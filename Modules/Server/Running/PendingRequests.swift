/// The requests that wait for an answer of the machine, by their number.
struct PendingRequests {
  typealias Answering = @Sendable (DirectAnswer) -> Void

  private struct Request {
    let answer: Answering
    /// The arrival in microseconds; `nil` for requests of the server's own.
    let arrival: Int64?
  }

  private var waiting: [UInt64: Request] = [:]
  private var last: UInt64 = 0

  /// The number of requests that wait.
  var count: Int { waiting.count }

  /// Adds a request.
  ///
  /// - Parameter arrival: The arrival in microseconds; `nil` for a request of the server's own.
  /// - Returns: Its number.
  mutating func add(at arrival: Int64? = nil, _ answer: @escaping Answering) -> UInt64 {
    last += 1
    waiting[last] = Request(answer: answer, arrival: arrival)
    return last
  }

  /// The arrival of a request that waits, in microseconds; `nil` for those of the server's own.
  func arrival(of number: UInt64) -> Int64? { waiting[number]?.arrival }

  /// Removes and returns the recipient of an answer.
  mutating func remove(_ number: UInt64) -> (answer: Answering, arrival: Int64?)? {
    waiting.removeValue(forKey: number).map { ($0.answer, $0.arrival) }
  }

  /// Reports to all recipients, in order, that no answer will come.
  mutating func refuseAll(_ reason: String) {
    for request in exchange(&waiting, with: [:]).sorted(by: { $0.key < $1.key }) {
      request.value.answer(.refused(.unavailable(reason)))
    }
  }
}
