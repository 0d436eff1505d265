public import TernCore
import TernSync
public import TernTransactions

/// The outcome of a transaction that did not fail.
public enum TreeTransactionResult: Equatable, Sendable {
  /// The server has it: what the transaction made of the place.
  case committed(TreeSnapshot)
  /// The update function gave up on this.
  case abandoned(TreeSnapshot)
}

extension TreeReference {
  /// Changes the value here depending on the present one, isolated from other clients.
  ///
  /// The function is called with what this client knows, again and again until the server still
  /// has what it was called with: it must depend on nothing else, and must not mind an empty node
  /// for what is not known yet. Without a connection the transaction waits. It ends with the
  /// program; see ``transaction(_:arguments:appliesLocally:)`` for one that does not.
  ///
  /// ```swift
  /// let result = try await stars.transaction { stars in
  ///   stars = TreeNode(.integer(…))
  ///   return true
  /// }
  /// ```
  /// - Parameters:
  ///   - appliesLocally: Whether listeners here see results the server has not confirmed.
  ///   - update: Changes the node in place; `false` gives up.
  /// - Throws: `TransactionError`; `cancelled` at once when the task is cancelled, while the
  ///   transaction goes on.
  public func transaction(
    appliesLocally: Bool = true, _ update: @escaping @Sendable (inout TreeNode) -> Bool
  ) async throws(TransactionError) -> TreeTransactionResult {
    try check()
    let promise = Promise<TransactionOutcome>()
    await session.transact(
      at: path, appliesLocally: appliesLocally,
      { node in
        var node = node
        return update(&node) ? node : nil
      },
      { promise.resolve($0) })
    return try result(await promise.value(ifCancelled: .failed(.cancelled)))
  }

  /// Runs a declared transaction here; it goes on after a restart of the program.
  ///
  /// - Parameters:
  ///   - name: A name given to ``TreeDatabase/declareTransaction(_:_:)`` before.
  ///   - arguments: What its function is called with, besides what is here; they keep the limits of
  ///     values in the tree.
  /// - Throws: `TransactionError`; `cancelled` at once when the task is cancelled, while the
  ///   transaction goes on.
  public func transaction(
    _ name: String, arguments: TreeNode = .empty, appliesLocally: Bool = true
  ) async throws(TransactionError) -> TreeTransactionResult {
    try check()
    // They are stored as JSON: what cannot be read back would keep the queue closed.
    do throws(TreeError) { try TreeWrite.set(.root, arguments).validate() } catch {
      throw .invalidResult("\(error)")
    }
    let promise = Promise<TransactionOutcome>()
    await session.transact(name, at: path, arguments: arguments, appliesLocally: appliesLocally) {
      promise.resolve($0)
    }
    return try result(await promise.value(ifCancelled: .failed(.cancelled)))
  }

  private func check() throws(TransactionError) {
    if let problem { throw .invalidResult("\(problem)") }
    if path.isInfo { throw .invalidResult("\(TreeError.readOnly(path))") }
  }

  private func result(
    _ outcome: TransactionOutcome
  ) throws(TransactionError) -> TreeTransactionResult {
    switch outcome {
    case .committed(let node): .committed(TreeSnapshot(path: path, node: node))
    case .abandoned(let node): .abandoned(TreeSnapshot(path: path, node: node))
    case .failed(let error): throw error
    }
  }
}
