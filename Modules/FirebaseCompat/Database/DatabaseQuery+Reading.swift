import Foundation
import TernClient

extension DatabaseQuery {
  /// Reads once: from the server if it can be reached, from the cache if not.
  ///
  /// - Throws: An `NSError` whose cause is ``DatabaseError/unavailable`` when neither has the
  ///   answer.
  public func getData() async throws -> DataSnapshot {
    let answer = Promise<Result<DataSnapshot, any Error>>()
    read { answer.resolve($0) }
    return try await answer.value(ifCancelled: .failure(NSError.canceledWait)).get()
  }

  /// Reads once and calls back; exactly one of the two arguments is `nil`.
  public func getData(completion block: @escaping ((any Error)?, DataSnapshot?) -> Void) {
    let callback = Callback(block)
    read { [database] result in
      database.call {
        switch result {
        case .success(let snapshot): callback(nil, snapshot)
        case .failure(let error): callback(error, nil)
        }
      }
    }
  }

  /// The value now and after every change, until the task that reads it ends.
  public var values: AsyncStream<DataSnapshot> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let handle = observe(
        .value, with: { continuation.yield($0) }, withCancel: { _ in continuation.finish() })
      continuation.onTermination = { [self] _ in removeObserver(withHandle: handle) }
    }
  }

  private func read(_ answer: @escaping @Sendable (Result<DataSnapshot, any Error>) -> Void) {
    let (path, query, ref) = (path, query, ref)
    perform(
      { session in
        session.read(at: path, query: query) { result in
          switch result {
          case .success(let read):
            answer(.success(DataSnapshot(ref: ref, node: read.node, query: query)))
          case .failure(let error): answer(.failure(NSError.database(DatabaseError(error))))
          }
        }
      }, failed: { answer(.failure(NSError.database($0))) })
  }
}
