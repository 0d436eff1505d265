import TernStorage

/// The promises of every store, as a list of named checks.
///
/// ```swift
/// @Test("storage contract", arguments: backends, StorageContract.checks)
/// func holds(backend: StoreFixture, check: StoreCheck) throws {
///   try check.run(on: backend.open())
/// }
/// ```
public enum StorageContract {
  /// Every check; each wants a new, empty store.
  public static let checks: [StoreCheck] =
    rowChecks + rangeChecks + transactionChecks + limitChecks + longKeyChecks + randomChecks
    + wipeChecks + largeChecks
}

/// The bytes of `text`, as a key or a value.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

extension OrderedStore {
  /// Writes rows of text in one transaction.
  func put(_ rows: [(String, String)]) throws(StorageError) {
    try write { transaction throws(StorageError) in
      for (key, value) in rows { try transaction.put(bytes(value), for: bytes(key)) }
    }
  }

  /// Reads one value in a snapshot of its own.
  func value(_ key: [UInt8]) throws(StorageError) -> [UInt8]? {
    try read { snapshot throws(StorageError) in try snapshot.get(key) }
  }

  /// Reads the rows of a range in a snapshot of its own.
  func rows(
    _ range: KeyRange = .all, isReversed: Bool = false, limit: Int = .max
  ) throws(StorageError) -> [Row] {
    try read { snapshot throws(StorageError) in
      try snapshot.scan(range, isReversed: isReversed, limit: limit)
    }
  }

  /// Reads the keys of a range as text.
  func keys(
    _ range: KeyRange = .all, isReversed: Bool = false, limit: Int = .max
  ) throws(StorageError) -> [String] {
    try rows(range, isReversed: isReversed, limit: limit).map {
      String(decoding: $0.key, as: UTF8.self)
    }
  }
}
