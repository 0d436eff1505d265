import Foundation
import TernClient
import TernDocumentReplica
import TernQuery

extension Query {
  /// Reads the result once; `completion` hears it, or why it cannot be had.
  public func getDocuments(completion: @escaping (QuerySnapshot?, (any Error)?) -> Void) {
    getDocuments(source: .default, completion: completion)
  }

  /// The same, from a source.
  public func getDocuments(
    source: FirestoreSource, completion: @escaping (QuerySnapshot?, (any Error)?) -> Void
  ) {
    read(source, completion) { [self] in QuerySnapshot(self, $0) }
  }

  /// The result as it is now.
  ///
  /// - Throws: ``FirestoreErrorCode/unavailable`` when only the server was allowed and it cannot be
  ///   reached.
  public func getDocuments(source: FirestoreSource = .default) async throws -> QuerySnapshot {
    QuerySnapshot(self, try await read(source))
  }

  /// Calls `listener` with the result as it is now, and again after every change that affects it.
  @discardableResult
  public func addSnapshotListener(
    _ listener: @escaping (QuerySnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    addSnapshotListener(options: SnapshotListenOptions(), listener: listener)
  }

  /// The same; also when only metadata changed, if that is asked for.
  @discardableResult
  public func addSnapshotListener(
    includeMetadataChanges: Bool, listener: @escaping (QuerySnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    addSnapshotListener(
      options: SnapshotListenOptions().withIncludeMetadataChanges(includeMetadataChanges),
      listener: listener)
  }

  /// The same, as the options say.
  @discardableResult
  public func addSnapshotListener(
    options: SnapshotListenOptions, listener: @escaping (QuerySnapshot?, (any Error)?) -> Void
  ) -> any ListenerRegistration {
    listen(options, listener) { [self] in QuerySnapshot(self, $0) }
  }
}

// MARK: - For queries and single documents

extension Query {
  /// The query, ready to be run.
  func checked() throws(FirestoreArgumentError) -> DocumentQuery {
    let query = try query.get()
    try FirestoreArgumentError.checking { () throws(DocumentQueryError) in
      try query.checkExecutable()
    }
    return query
  }

  /// Registers a listener.
  func listen<Snapshot: Sendable>(
    _ options: SnapshotListenOptions,
    _ listener: @escaping (Snapshot?, (any Error)?) -> Void,
    _ make: @escaping @Sendable (DocumentViewSnapshot) -> Snapshot
  ) -> any ListenerRegistration {
    let callback = Callback(listener)
    let firestore = firestore
    let registration = SnapshotRegistration(firestore) { $0.unlisten($1) }
    let ended: @Sendable (any Error) -> Void = { error in
      firestore.calls.call { if registration.end() { callback(nil, NSError.firestore(error)) } }
    }
    do throws(FirestoreArgumentError) {
      let query = try checked()
      let hearer = DocumentEventHandler(
        heard: { view in
          firestore.calls.call { if registration.isActive { callback(make(view), nil) } }
        }, ended: { ended($0) })
      firestore.calls.submit(
        { session in
          registration.begin { session.listen(query, options.native, hearer) }
        }, failed: ended)
    } catch {
      ended(error)
    }
    return registration
  }

  /// Reads once and calls back.
  func read<Snapshot: Sendable>(
    _ source: FirestoreSource, _ completion: @escaping (Snapshot?, (any Error)?) -> Void,
    _ make: @escaping @Sendable (DocumentViewSnapshot) -> Snapshot
  ) {
    let callback = Callback(completion)
    let firestore = firestore
    read(source) { result in
      firestore.calls.call {
        switch result {
        case .success(let view): callback(make(view), nil)
        case .failure(let error): callback(nil, error)
        }
      }
    }
  }

  /// Reads once.
  func read(_ source: FirestoreSource) async throws -> DocumentViewSnapshot {
    let answer = Promise<Result<DocumentViewSnapshot, any Error>>()
    read(source) { answer.resolve($0) }
    let cancelled = NSError.firestore(DocumentsError.cancelled)
    return try await answer.value(ifCancelled: .failure(cancelled)).get()
  }

  private func read(
    _ source: FirestoreSource,
    _ answer: @escaping @Sendable (Result<DocumentViewSnapshot, any Error>) -> Void
  ) {
    do throws(FirestoreArgumentError) {
      let query = try checked()
      firestore.calls.submit(
        { session in
          session.get(query, source.native) { result in
            answer(result.mapError { NSError.firestore(DocumentsError.refused($0)) })
          }
        }, failed: { answer(.failure(NSError.firestore($0))) })
    } catch {
      answer(.failure(NSError.firestore(error)))
    }
  }
}

extension Query {
  /// Returns the plan of the cache on this device, in one line that begins with `document`,
  /// `index`, `previousResults` or `scan`. Not one of Firebase's names.
  public func explain() async throws -> String {
    do {
      let query = try checked()
      let documents = try await firestore.native()
      let reference = DocumentQueryReference(documents: documents, query: .success(query))
      return try await reference.explain().description
    } catch {
      throw NSError.firestore(error)
    }
  }
}
