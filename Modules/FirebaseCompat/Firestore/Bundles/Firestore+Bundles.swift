public import Foundation
import TernClient
import TernCore
import TernDocumentReplica
import TernQuery

extension Firestore {
  /// Takes in documents and results of queries that a server packed for many clients.
  @discardableResult
  public func loadBundle(_ bundleData: Data) -> LoadBundleTask {
    load(bundleData) { _ in }
  }

  /// The same; `completion` hears the end.
  @discardableResult
  public func loadBundle(
    _ bundleData: Data, completion: @escaping (LoadBundleTaskProgress?, (any Error)?) -> Void
  ) -> LoadBundleTask {
    let callback = Callback(completion)
    return load(bundleData) { [self] result in
      calls.call {
        switch result {
        case .success(let progress): callback(progress, nil)
        case .failure(let error): callback(nil, error)
        }
      }
    }
  }

  /// The same; returns when it is in.
  ///
  /// - Throws: ``FirestoreErrorCode/invalidArgument``, with nothing taken in.
  @discardableResult
  public func loadBundle(_ bundleData: Data) async throws -> LoadBundleTaskProgress {
    let answer = Promise<Result<LoadBundleTaskProgress, any Error>>()
    load(bundleData) { answer.resolve($0) }
    return try await answer.value().get()
  }

  /// The same, of a stream that is read to its end first.
  @discardableResult
  public func loadBundle(
    _ bundleStream: InputStream,
    completion: @escaping (LoadBundleTaskProgress?, (any Error)?) -> Void
  ) -> LoadBundleTask {
    loadBundle(bundleStream.everything(), completion: completion)
  }

  /// The same, of a stream that is read to its end first.
  @discardableResult
  public func loadBundle(_ bundleStream: InputStream) -> LoadBundleTask {
    loadBundle(bundleStream.everything()) { _, _ in }
  }

  /// The same, of a stream that is read to its end first; returns when it is in.
  ///
  /// - Throws: ``FirestoreErrorCode/invalidArgument``, with nothing taken in.
  @discardableResult
  public func loadBundle(_ bundleStream: InputStream) async throws -> LoadBundleTaskProgress {
    try await loadBundle(bundleStream.everything())
  }

  /// A query that came in a bundle; `nil` when there is none of the name.
  public func getQuery(named name: String, completion: @escaping (Query?) -> Void) {
    let callback = Callback<Query?, Void> { query, _ in completion(query) }
    query(named: name) { [self] query in calls.call { callback(query, ()) } }
  }

  /// A query that came in a bundle; `nil` when there is none of the name.
  public func getQuery(named name: String) async -> Query? {
    let answer = Promise<Query?>()
    query(named: name) { answer.resolve($0) }
    return await answer.value()
  }

  private func query(named name: String, _ answer: @escaping @Sendable (Query?) -> Void) {
    calls.submit(
      { [self] session in
        let named = session.withReplica { $0.cache.namedQuery(name) }
        answer(named.map { Query(self, .success($0.query)) })
      }, failed: { _ in answer(nil) })
  }

  @discardableResult
  private func load(
    _ bytes: Data,
    _ ended: @escaping @Sendable (Result<LoadBundleTaskProgress, any Error>) -> Void
  ) -> LoadBundleTask {
    let task = LoadBundleTask(self)
    let failed: @Sendable (any Error) -> Void = { error in
      task.report(
        LoadBundleTaskProgress(
          documentsLoaded: 0, totalDocuments: 0, bytesLoaded: 0, totalBytes: bytes.count,
          state: .error))
      ended(.failure(NSError.firestore(error)))
    }
    do throws(BundleError) {
      let bundle = try BundleReader.read(Array(bytes), of: database)
      let count = bundle.documents.count
      calls.submit(
        { session in
          task.report(
            LoadBundleTaskProgress(
              documentsLoaded: 0, totalDocuments: count, bytesLoaded: 0, totalBytes: bytes.count,
              state: .inProgress))
          session.load(bundle)
          let progress = LoadBundleTaskProgress(
            documentsLoaded: count, totalDocuments: count, bytesLoaded: bytes.count,
            totalBytes: bytes.count, state: .success)
          task.report(progress)
          ended(.success(progress))
        }, failed: failed)
    } catch {
      failed(DocumentsError.invalidBundle(error))
    }
    return task
  }
}

extension InputStream {
  /// Everything that is left in the stream.
  func everything() -> Data {
    open()
    defer { close() }
    var data = Data()
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = unsafe read(&buffer, maxLength: buffer.count)
      if count <= 0 { return data }
      data.append(contentsOf: buffer[..<count])
    }
  }
}
