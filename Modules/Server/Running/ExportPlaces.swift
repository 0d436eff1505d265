/// A reading in pieces that holds one of a limited number of places.
protocol ExportPlaceHolder {
  /// The address of its reader, without a port.
  var address: String { get }
  /// The time for which its reader has taken nothing of what waits for it, in milliseconds; 0 while
  /// the reading goes on.
  var stalledMilliseconds: Int64 { get }
}

extension Dictionary where Key == UInt64, Value: ExportPlaceHolder {
  /// Removes the reading whose reader takes nothing, of the address that has most of them.
  ///
  /// A reader at an address with fewer places does not wait until the others' patience is over.
  /// - Parameter patience: The milliseconds for which a reader may take nothing.
  /// - Returns: The reading that is to be ended, with its number; `nil` when all of them go on.
  mutating func evict(
    for address: String, _ patience: Int64
  ) -> (number: UInt64, holder: Value)? {
    var counts: [String: Int] = [:]
    for one in values { counts[one.address, default: 0] += 1 }
    let own = counts[address, default: 0]
    let stalled = compactMap { number, one -> (number: UInt64, count: Int, time: Int64)? in
      let count = counts[one.address, default: 0]
      let time = one.stalledMilliseconds
      return time > (count > own + 1 ? patience / 10 : patience) ? (number, count, time) : nil
    }
    let last = stalled.max { ($0.count, $0.time, $0.number) < ($1.count, $1.time, $1.number) }
    guard let last, let one = removeValue(forKey: last.number) else { return nil }
    return (last.number, one)
  }
}
