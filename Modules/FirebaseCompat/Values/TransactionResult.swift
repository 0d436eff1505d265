import TernCore

/// The result of an update function of a transaction.
public struct TransactionResult: Sendable {
  enum Verdict: Sendable {
    case abort
    case write(TreeNode)
    case invalid(DatabaseValueError)
  }

  let verdict: Verdict

  /// Writes what `value` holds now.
  public static func success(withValue value: MutableData) -> TransactionResult {
    if let error = value.error { return TransactionResult(verdict: .invalid(error)) }
    return TransactionResult(verdict: .write(value.node))
  }

  /// Leaves everything as it is; the completion hears `committed == false` and no error.
  public static func abort() -> TransactionResult {
    TransactionResult(verdict: .abort)
  }
}
