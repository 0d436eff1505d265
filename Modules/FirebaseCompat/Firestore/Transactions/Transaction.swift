import Dispatch
import Foundation
import Synchronization
import TernClient
import TernCore

/// A transaction: reads and writes isolated from other clients.
///
/// Reads come first and go to the server; writes are sent together at the end. A mistake in a write
/// is told when the update function has returned, and nothing is written then. A write after that
/// ends the program.
public final class Transaction: Sendable {
  private let firestore: Firestore
  private let native: DocumentTransaction
  private let mistake = Mutex<(any Error)?>(nil)
  /// The reads that block the update function, and whether its task was cancelled.
  private let reads = Mutex((isCancelled: false, tasks: [Task<Void, Never>]()))

  init(_ firestore: Firestore, _ native: DocumentTransaction) {
    self.firestore = firestore
    self.native = native
  }

  /// The first mistake.
  var problem: (any Error)? { mistake.withLock { $0 } }

  /// The document as the server has it. Blocks the thread that the update function runs on.
  ///
  /// - Throws: Also for a read after a write: ``FirestoreErrorCode/invalidArgument``.
  public func getDocument(_ document: DocumentReference) throws -> DocumentSnapshot {
    let answer = BlockingAnswer<Result<Document, any Error>>()
    do throws(FirestoreArgumentError) {
      let key = try document.key(in: firestore)
      let read = Task { [native] in
        do throws(DocumentsError) {
          answer.give(.success(try await native.document(key)))
        } catch {
          answer.give(.failure(error))
        }
      }
      let isCancelled = reads.withLock { reads in
        reads.tasks.append(read)
        return reads.isCancelled
      }
      if isCancelled { read.cancel() }
    } catch {
      answer.give(.failure(error))
    }
    do {
      return DocumentSnapshot(
        document, try answer.wait().get(),
        SnapshotMetadata(hasPendingWrites: false, isFromCache: false))
    } catch {
      throw NSError.firestore(error)
    }
  }

  /// Ends the reads that wait and those to come: the task of the transaction was cancelled.
  func cancelReads() {
    let tasks = reads.withLock { reads in
      reads.isCancelled = true
      return reads.tasks
    }
    for task in tasks { task.cancel() }
  }

  /// Replaces a document, or makes it.
  @discardableResult
  public func setData(
    _ data: [String: Any], forDocument document: DocumentReference
  ) -> Transaction {
    setData(data, forDocument: document, merge: false)
  }

  /// Writes the fields that are named, and leaves the others if `merge` is set.
  @discardableResult
  public func setData(
    _ data: [String: Any], forDocument document: DocumentReference, merge: Bool
  ) -> Transaction {
    add { () throws(FirestoreArgumentError) in
      try .setting(data, document, of: firestore, merge: merge)
    }
  }

  /// Writes these of the fields, and leaves the others.
  @discardableResult
  public func setData(
    _ data: [String: Any], forDocument document: DocumentReference, mergeFields: [Any]
  ) -> Transaction {
    add { () throws(FirestoreArgumentError) in
      try .setting(data, document, of: firestore, mergeFields: mergeFields)
    }
  }

  /// Writes single fields of a document that must exist.
  @discardableResult
  public func updateData(
    _ fields: [AnyHashable: Any], forDocument document: DocumentReference
  ) -> Transaction {
    add { () throws(FirestoreArgumentError) in
      try .updating(fields, document, of: firestore)
    }
  }

  /// Deletes a document.
  @discardableResult
  public func deleteDocument(_ document: DocumentReference) -> Transaction {
    add { () throws(FirestoreArgumentError) in .delete(try document.key(in: firestore)) }
  }

  private func add(_ make: () throws(FirestoreArgumentError) -> DocumentMutation) -> Transaction {
    do {
      try native.write(try make())
    } catch {
      if native.isEnded { Misuse.endedTransaction() }
      mistake.withLock { $0 = $0 ?? error }
    }
    return self
  }

  func adding(_ make: (Firestore) throws -> DocumentMutation) throws -> Transaction {
    let mutation = try make(firestore)
    return add { () throws(FirestoreArgumentError) in mutation }
  }
}

/// An answer that one thread waits for and a task gives, once.
private final class BlockingAnswer<Value: Sendable>: Sendable {
  private let answer = Mutex<Value?>(nil)
  private let given = DispatchSemaphore(value: 0)

  func give(_ value: Value) {
    answer.withLock { $0 = value }
    given.signal()
  }

  func wait() -> Value {
    given.wait()
    guard let value = answer.withLock({ $0 }) else {
      preconditionFailure("An answer is there when it is signalled.")
    }
    return value
  }
}
