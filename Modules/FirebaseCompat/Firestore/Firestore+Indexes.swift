public import Foundation
import TernClient
import TernCore
import TernDocumentReplica
import TernQuery

extension Firestore {
  /// Makes exactly the indexes that a configuration names, in the form of `firestore.indexes.json`.
  ///
  /// They change how fast queries are answered on this device, never their results.
  public func setIndexConfiguration(
    _ json: String, completion: (((any Error)?) -> Void)? = nil
  ) {
    let callback = Callback<(any Error)?, Void> { error, _ in completion?(error) }
    setIndexes(json) { [self] error in calls.call { callback(error, ()) } }
  }

  /// The same.
  ///
  /// - Throws: ``FirestoreErrorCode/invalidArgument``, with nothing changed.
  public func setIndexConfiguration(_ json: String) async throws {
    let answer = Promise<(any Error)?>()
    setIndexes(json) { answer.resolve($0) }
    if let error = await answer.value() { throw error }
  }

  /// The same, of a stream that is read to its end first.
  public func setIndexConfiguration(
    _ stream: InputStream, completion: (((any Error)?) -> Void)? = nil
  ) {
    setIndexConfiguration(
      String(decoding: stream.everything(), as: UTF8.self), completion: completion)
  }

  /// The same, of a stream that is read to its end first.
  ///
  /// - Throws: ``FirestoreErrorCode/invalidArgument``, with nothing changed.
  public func setIndexConfiguration(_ stream: InputStream) async throws {
    try await setIndexConfiguration(String(decoding: stream.everything(), as: UTF8.self))
  }

  private func setIndexes(_ json: String, _ done: @escaping @Sendable ((any Error)?) -> Void) {
    calls.submit(
      { session in
        let result = session.withReplica { replica in
          Result { () throws(DocumentIndexError) in try replica.cache.setIndexes(json) }
        }
        switch result {
        case .success: done(nil)
        case .failure(let error):
          done(NSError.firestore(FirestoreArgumentError.indexes("\(error)")))
        }
      }, failed: { done(NSError.firestore($0)) })
  }
}
