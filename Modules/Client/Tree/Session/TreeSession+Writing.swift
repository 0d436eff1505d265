public import TernCore
import TernSync
import TernTransactions
import TernTreeReplica

extension TreeSession {
  /// Takes a write that keeps the limits of the tree; listeners have heard it when this returns.
  package func write(_ write: TreeWrite) -> WritePromise {
    drain()
    let promise = WritePromise()
    guard !isClosed else {
      promise.closed()
      return promise
    }
    promises[machine.write(write)] = promise
    carryOut()
    return promise
  }

  /// The name of a child made now.
  package func pushKey() -> TreeKey { machine.pushKey() }

  /// Asks for a deferred write, or takes one back.
  package func deferWrite(
    _ verb: DeferredWrite, _ answer: @escaping @Sendable (Result<Void, DisconnectError>) -> Void
  ) {
    drain()
    guard !isClosed else { return answer(.failure(.closed)) }
    let id =
      switch verb {
      case .write(let write): machine.onDisconnect(write)
      case .cancel(let path): machine.cancelOnDisconnect(path)
      }
    disconnectAnswers[id] = answer
    carryOut()
  }

  /// Begins a transaction given as a closure.
  package func transact(
    at path: TreePath, appliesLocally: Bool, _ update: @escaping TransactionUpdate,
    _ ended: @escaping @Sendable (TransactionOutcome) -> Void
  ) {
    drain()
    guard !isClosed else { return ended(.failed(.cancelled)) }
    let id = machine.transact(at: path, appliesLocally: appliesLocally, update)
    transactionEnds[id] = ended
    carryOut()
  }

  /// Begins a transaction given by name.
  package func transact(
    _ name: String, at path: TreePath, arguments: TreeNode, appliesLocally: Bool,
    _ ended: @escaping @Sendable (TransactionOutcome) -> Void
  ) {
    drain()
    guard !isClosed else { return ended(.failed(.cancelled)) }
    guard let update = declarations[name] else { return ended(.failed(.undeclared(name: name))) }
    let id = machine.transact(
      name, at: path, arguments: arguments, appliesLocally: appliesLocally
    ) { update(arguments, $0) }
    transactionEnds[id] = ended
    carryOut()
  }

  /// Says what the name of a declared transaction means; those of earlier runs go on.
  package func declare(_ name: String, _ update: @escaping DeclaredUpdate) {
    drain()
    declarations[name] = update
    _ = machine.declare(name, update)
    carryOut()
  }
}

/// A declared transaction's update: from its arguments and the present value; `nil` gives up.
public typealias DeclaredUpdate =
  @Sendable (_ arguments: TreeNode, _ current: TreeNode) -> TreeNode?

/// A request about the writes that happen when the connection ends.
package enum DeferredWrite: Sendable {
  case write(TreeWrite)
  case cancel(TreePath)
}
