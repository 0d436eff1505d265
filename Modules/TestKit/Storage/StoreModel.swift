public import TernStorage

/// A slow, obvious store: a sorted array. What real stores are compared with.
public struct StoreModel: Sendable {
  private var sorted: [Row] = []

  /// An empty store.
  public init() {}

  /// Stores `value` under `key`.
  public mutating func put(_ value: [UInt8], for key: [UInt8]) {
    let index = sorted.firstIndex { !bytesPrecede($0.key, key) } ?? sorted.count
    if index < sorted.count, sorted[index].key == key {
      sorted[index].value = value
    } else {
      sorted.insert(Row(key: key, value: value), at: index)
    }
  }

  /// Removes the rows of `range`.
  public mutating func remove(_ range: KeyRange) {
    sorted.removeAll { range.contains($0.key.span) }
  }

  /// The rows of `range`, in order.
  public func rows(_ range: KeyRange) -> [Row] {
    sorted.filter { range.contains($0.key.span) }
  }
}
