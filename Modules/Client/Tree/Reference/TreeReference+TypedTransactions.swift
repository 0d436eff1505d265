import Synchronization
import TernCore
import TernTransactions

extension TreeReference {
  /// Changes a number here, beginning with 0 where nothing is.
  ///
  /// ```swift
  /// try await stars.transaction(as: Int.self) { $0 += 1 }
  /// ```
  /// - Returns: The committed value.
  /// - Throws: As ``transaction(as:default:appliesLocally:_:)``.
  @discardableResult
  public func transaction<Value: Codable & Numeric & Sendable>(
    as type: Value.Type, appliesLocally: Bool = true,
    _ update: @escaping @Sendable (inout Value) throws -> Void
  ) async throws -> Value {
    try await transaction(as: type, default: .zero, appliesLocally: appliesLocally, update)
  }

  /// Changes the value here depending on what it is, as if no other client wrote meanwhile.
  ///
  /// The function may run several times: with what this client knows, then with what the server
  /// has.
  /// It must depend on nothing else. Without a connection the transaction waits; it ends with the
  /// program. The priority of the node stays.
  ///
  /// - Parameters:
  ///   - type: The type that the node is decoded to, and encoded from.
  ///   - initial: The value where nothing is, or nothing is known yet.
  ///   - appliesLocally: Whether listeners here see results the server has not confirmed.
  ///   - update: Changes the value in place; what it throws gives up.
  /// - Returns: The committed value.
  /// - Throws: ``TransactionError``; ``TreeCodingError`` for a node that is not of the type; what
  ///   `update` throws. Nothing was changed then, unless the task was cancelled: the transaction
  ///   goes on.
  @discardableResult
  public func transaction<Value: Codable & Sendable>(
    as type: Value.Type, default initial: Value, appliesLocally: Bool = true,
    _ update: @escaping @Sendable (inout Value) throws -> Void
  ) async throws -> Value {
    try await transaction(as: Value?.self, appliesLocally: appliesLocally) { value in
      var changed = value ?? initial
      try update(&changed)
      value = changed
    } ?? initial
  }

  /// Changes the value here, which is `nil` where nothing is, or nothing is known yet; `nil`
  /// removes
  /// it.
  ///
  /// - Parameters: As those of ``transaction(as:default:appliesLocally:_:)``.
  /// - Returns: The committed value.
  /// - Throws: As ``transaction(as:default:appliesLocally:_:)``.
  @discardableResult
  public func transaction<Value: Codable & Sendable>(
    as type: Value?.Type, appliesLocally: Bool = true,
    _ update: @escaping @Sendable (inout Value?) throws -> Void
  ) async throws -> Value? {
    let abandonment = Abandonment()
    let (place, key) = (description, self.key)
    let result = try await transaction(appliesLocally: appliesLocally) { node in
      do {
        var value =
          node.isEmpty ? nil : try TreeDecoder().decode(Value.self, from: node, key: key)
        try update(&value)
        let changed = try value.map { try TreeEncoder().encode($0) } ?? .empty
        node = changed.withPriority(node.priority)
        return true
      } catch {
        abandonment.reason.withLock { $0 = (error as? TreeCodingError)?.at(place) ?? error }
        return false
      }
    }
    switch result {
    case .committed(let snapshot): return try snapshot.decode(Value?.self)
    case .abandoned:
      throw abandonment.reason.withLock { $0 } ?? TransactionError.cancelled
    }
  }
}

/// The reason why an update function gave up in its last run.
private final class Abandonment: Sendable {
  let reason = Mutex<(any Error)?>(nil)
}
