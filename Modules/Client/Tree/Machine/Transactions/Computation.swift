import TernCore
import TernTransactions

/// The result of an update function.
enum Computation {
  case output(TreeNode)
  case abandoned
  case invalid(TreeError)

  /// Calls an update function.
  init(of update: TransactionUpdate, _ input: TreeNode, at path: TreePath) {
    guard let output = update(input) else {
      self = .abandoned
      return
    }
    do throws(TreeError) {
      try TreeWrite.set(path, output).validateForStoring()
      self = .output(output)
    } catch {
      self = .invalid(error)
    }
  }

  /// The end of a transaction that has no output.
  func end(_ input: TreeNode) -> TransactionOutcome {
    switch self {
    case .output, .abandoned: .abandoned(input)
    case .invalid(let error): .failed(.invalidResult("\(error)"))
    }
  }
}
