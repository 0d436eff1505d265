import Foundation
import Synchronization
import TernClient
import TernCore
import TernTransactions

extension DatabaseReference {
  /// Changes the value here depending on the present one, isolated from other clients.
  ///
  /// `block` may be called several times, first with what this client knows, which may be nothing.
  public func runTransactionBlock(_ block: @escaping (MutableData) -> TransactionResult) {
    runTransactionBlock(block) { _, _, _ in }
  }

  /// The same; `completionBlock` hears an error or `nil`, whether it was committed, and the result.
  ///
  /// - Parameter localEvents: Whether observers here hear results that the server has not
  ///   confirmed.
  public func runTransactionBlock(
    _ block: @escaping (MutableData) -> TransactionResult,
    andCompletionBlock completionBlock: (((any Error)?, Bool, DataSnapshot?) -> Void)?,
    withLocalEvents localEvents: Bool = true
  ) {
    let function = HandedOver(block)
    let fault = Fault()
    let callback = Callback<(any Error)?, (Bool, DataSnapshot?)> {
      completionBlock?($0, $1.0, $1.1)
    }
    let key = path.last
    let update: TransactionUpdate = { node in
      switch function.value(MutableData(node, key: key)).verdict {
      case .abort: return nil
      case .write(let node): return node
      case .invalid(let error):
        fault.note(error)
        return nil
      }
    }
    let path = path
    perform(
      { [self] session in
        session.transact(at: path, appliesLocally: localEvents, update) { outcome in
          self.database.call { self.report(outcome, fault.error, callback) }
        }
      },
      failed: { [database] error in
        database.call { callback(NSError.database(error), (false, nil)) }
      })
  }

  /// Changes the value here depending on the present one, isolated from other clients.
  ///
  /// - Returns: Whether it was committed, and what is here now.
  /// - Throws: An `NSError` of ``DatabaseErrorDomain``; nothing was written then, unless the task
  ///   was cancelled: the transaction goes on.
  @discardableResult
  public func runTransactionBlock(
    _ block: @escaping (MutableData) -> TransactionResult
  ) async throws -> (Bool, DataSnapshot) {
    let answer = Promise<Result<(Bool, DataSnapshot), any Error>>()
    runTransactionBlock(
      block,
      andCompletionBlock: { [self] error, isCommitted, snapshot in
        answer.resolve(
          error.map { .failure($0) }
            ?? .success((isCommitted, snapshot ?? DataSnapshot(ref: self, node: .empty))))
      })
    return try await answer.value(ifCancelled: .failure(NSError.canceledWait)).get()
  }

  private func report(
    _ outcome: TransactionOutcome, _ fault: DatabaseValueError?,
    _ callback: Callback<(any Error)?, (Bool, DataSnapshot?)>
  ) {
    switch outcome {
    case .committed(let node):
      callback(nil, (true, DataSnapshot(ref: self, node: node)))
    case .abandoned(let node):
      let error = fault.map { NSError.database(DatabaseError.invalid("\($0)")) }
      callback(error, (false, DataSnapshot(ref: self, node: node)))
    case .failed(let error):
      callback(NSError.database(DatabaseError(error)), (false, nil))
    }
  }
}

/// The error of an update function, for its completion.
private final class Fault: Sendable {
  private let state = Mutex<DatabaseValueError?>(nil)

  var error: DatabaseValueError? { state.withLock { $0 } }

  func note(_ error: DatabaseValueError) { state.withLock { $0 = error } }
}
