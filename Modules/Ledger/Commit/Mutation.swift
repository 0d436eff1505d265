public import TernStorage

/// One change to the rows of a store.
public enum Mutation: Hashable, Sendable {
  /// Stores `value` under `key`, in place of what was there.
  case put(key: [UInt8], value: [UInt8])
  /// Removes every row of the range.
  case remove(KeyRange)

  /// The keys the mutation may change.
  public var range: KeyRange {
    switch self {
    case .put(let key, _): KeyRange(only: key)
    case .remove(let range): range
    }
  }
}

extension WriteTransaction {
  /// Applies the mutations in order.
  public mutating func apply(_ mutations: [Mutation]) throws(StorageError) {
    for mutation in mutations {
      switch mutation {
      case .put(let key, let value): try put(value.span, for: key.span)
      case .remove(let range): try remove(in: range)
      }
    }
  }
}
