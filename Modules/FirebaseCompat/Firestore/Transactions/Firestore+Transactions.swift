import Dispatch
import Foundation
import TernClient
import TernCore

/// The options of a transaction.
public final class TransactionOptions {
  /// The greatest number of attempts, at least 1; five unless set.
  public var maxAttempts = 5

  /// The defaults.
  public init() {}
}

extension Firestore {
  /// Runs an update function, again after a conflict with another client, five times at most.
  ///
  /// - Parameters:
  ///   - updateBlock: Runs on a thread of its own, and may run several times. It puts an error into
  ///     its second argument and returns `nil` to give up.
  ///   - completion: Hears what the update function returned, or why nothing was written.
  public func runTransaction(
    _ updateBlock: @escaping (Transaction, NSErrorPointer) -> Any?,
    completion: @escaping (Any?, (any Error)?) -> Void
  ) {
    runTransaction(with: nil, block: updateBlock, completion: completion)
  }

  /// The same, with a choice of how often it is tried.
  public func runTransaction(
    with options: TransactionOptions?,
    block: @escaping (Transaction, NSErrorPointer) -> Any?,
    completion: @escaping (Any?, (any Error)?) -> Void
  ) {
    let callback = Callback<Any?, (any Error)?>(completion)
    let update = TransactionBlock(body: block)
    let attempts = options?.maxAttempts ?? 5
    Task { [self] in
      let outcome = await run(update, attempts)
      calls.call { callback(outcome.value, outcome.error) }
    }
  }

  /// Runs an update function, again after a conflict with another client, five times at most.
  ///
  /// - Returns: What the update function returned.
  /// - Throws: What the update function put into its second argument, or the server's verdict;
  ///   nothing was written then.
  @discardableResult
  public func runTransaction(
    _ updateBlock: @escaping (Transaction, NSErrorPointer) -> Any?
  ) async throws -> Any? {
    try await runTransaction(with: nil, block: updateBlock)
  }

  /// The same, with a choice of how often it is tried.
  @discardableResult
  public func runTransaction(
    with options: TransactionOptions?,
    block: @escaping (Transaction, NSErrorPointer) -> Any?
  ) async throws -> Any? {
    let outcome = await run(TransactionBlock(body: block), options?.maxAttempts ?? 5)
    if let error = outcome.error { throw error }
    return outcome.value
  }

  private func run(_ update: TransactionBlock, _ attempts: Int) async -> TransactionOutcome {
    guard attempts >= 1 else {
      return TransactionOutcome(
        nil, FirestoreErrorCode.invalidArgument.error("maxAttempts is at least 1."))
    }
    do {
      return try await native().transaction(attempts: attempts, waitsForPendingWrites: false) {
        native in
        let transaction = Transaction(self, native)
        let outcome = await update.run(transaction)
        if let error = outcome.error { throw Self.judged(error) }
        if let problem = transaction.problem { throw problem }
        return outcome
      }
    } catch let error as DocumentsError {
      return TransactionOutcome(nil, .firestore(error))
    } catch let error as FirestoreArgumentError {
      return TransactionOutcome(nil, .firestore(error))
    } catch {
      return TransactionOutcome(nil, error as NSError)
    }
  }

  /// The error of an update function, in the form that tells whether another attempt is worth it.
  private static func judged(_ error: NSError) -> any Error {
    error.userInfo[NSUnderlyingErrorKey] as? DocumentsError ?? error
  }
}

/// The end of one run of an update function.
private struct TransactionOutcome: Sendable {
  private let result: HandedOver<Any?>
  let error: NSError?

  init(_ value: Any?, _ error: NSError?) {
    result = HandedOver(value)
    self.error = error
  }

  /// The value that the function returned.
  var value: Any? { result.value }
}

/// An update function, and the threads that it may block.
private struct TransactionBlock: Sendable {
  /// Update functions block their thread while they read.
  private static let queue = DispatchQueue(label: "tern.transactions", attributes: .concurrent)

  private let body: HandedOver<(Transaction, NSErrorPointer) -> Any?>

  init(body: @escaping (Transaction, NSErrorPointer) -> Any?) { self.body = HandedOver(body) }

  func run(_ transaction: Transaction) async -> TransactionOutcome {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        Self.queue.async {
          #if canImport(ObjectiveC)
            var error: NSError?
            let value = unsafe body.value(transaction, &error)
          #else
            let place = NSErrorPlace()
            let value = body.value(transaction, place)
            let error = place.pointee
          #endif
          continuation.resume(returning: TransactionOutcome(error == nil ? value : nil, error))
        }
      }
    } onCancel: {
      transaction.cancelReads()
    }
  }
}
