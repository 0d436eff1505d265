public import TernStorage

/// A way to make stores of one backend, for the checks of ``StorageContract``.
public struct StoreFixture: Sendable, CustomStringConvertible {
  /// The backend's name in test reports.
  public let description: String

  private let make: @Sendable () throws -> any OrderedStore

  /// A backend called `name`; `make` returns a new, empty store each time.
  public init(_ name: String, _ make: @escaping @Sendable () throws -> any OrderedStore) {
    description = name
    self.make = make
  }

  /// A new, empty store.
  public func open() throws -> any OrderedStore { try make() }
}

/// One promise of the storage contract.
public struct StoreCheck: Sendable, CustomStringConvertible {
  /// The promise, in words.
  public let description: String

  private let body: @Sendable (any OrderedStore) throws -> Void

  init(_ description: String, _ body: @escaping @Sendable (any OrderedStore) throws -> Void) {
    self.description = description
    self.body = body
  }

  /// Throws unless `store`, which is new and empty, keeps the promise.
  public func run(on store: any OrderedStore) throws { try body(store) }
}

/// The difference between a store's promise and its behavior.
public struct StoreCheckFailure: Error, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}

/// Throws unless a promise is kept; the text names it.
func expect(_ isKept: Bool, _ promise: @autoclosure () -> String) throws {
  if !isKept { throw StoreCheckFailure(promise()) }
}

/// Throws unless `body` throws exactly that error.
func expectError(
  _ expected: StorageError, _ body: () throws(StorageError) -> Void
) throws {
  do throws(StorageError) { try body() } catch {
    return try expect(error == expected, "\(error) was thrown, not \(expected)")
  }
  throw StoreCheckFailure("nothing was thrown, not \(expected)")
}
