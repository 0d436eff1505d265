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

extension [Mutation] {
  /// Checks that a store can take every row.
  ///
  /// - Throws: ``StorageError/keyTooLong(bytes:)``, ``StorageError/valueTooLong(bytes:)``; reject
  ///   the write that makes these changes.
  /// - Complexity: O(*n*) in the number of changes.
  public func checkLimits() throws(StorageError) {
    for case .put(let key, let value) in self {
      try StorageLimits.check(key: key.count, value: value.count)
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
