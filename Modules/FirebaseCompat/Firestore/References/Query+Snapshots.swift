/// The results of a query: the one now, and another after every change that affects it.
///
/// Results are kept for a reader that is slow, so that their ``QuerySnapshot/documentChanges`` add
/// up; the sequence ends when the task that reads it is cancelled.
public struct QuerySnapshotsSequence: AsyncSequence, Sendable {
  public typealias Element = QuerySnapshot
  public typealias Failure = any Error

  /// The most results that wait for a reader. One more ends the sequence with
  /// ``FirestoreErrorCode/resourceExhausted``.
  public static let bufferLimit = 10_000

  private let query: Query
  private let includesMetadata: Bool

  /// Makes a sequence; each of its iterators listens by itself.
  public init(_ query: Query, includeMetadataChanges: Bool = false) {
    self.query = query
    includesMetadata = includeMetadataChanges
  }

  /// Begins to listen.
  public func makeAsyncIterator() -> Iterator {
    Iterator(
      bufferedSnapshots(limit: Self.bufferLimit) {
        query.addSnapshotListener(includeMetadataChanges: includesMetadata, listener: $0)
      })
  }

  /// One reader; it listens until it is gone.
  public struct Iterator: AsyncIteratorProtocol {
    private var results: AsyncThrowingStream<QuerySnapshot, any Error>.Iterator

    init(_ stream: AsyncThrowingStream<QuerySnapshot, any Error>) {
      results = stream.makeAsyncIterator()
    }

    /// Waits for the next result.
    ///
    /// - Returns: `nil` when the task was cancelled.
    /// - Throws: The error that ended the listener.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(any Error) -> QuerySnapshot? {
      try await results.next(isolation: actor)
    }
  }
}

/// The states of a document: the one now, and another whenever it changes.
///
/// States are kept for a reader that is slow; the sequence ends when the task that reads it is
/// cancelled.
public struct DocumentSnapshotsSequence: AsyncSequence, Sendable {
  public typealias Element = DocumentSnapshot
  public typealias Failure = any Error

  /// The most states that wait for a reader. One more ends the sequence with
  /// ``FirestoreErrorCode/resourceExhausted``.
  public static let bufferLimit = 10_000

  private let document: DocumentReference
  private let includesMetadata: Bool

  /// Makes a sequence; each of its iterators listens by itself.
  public init(_ document: DocumentReference, includeMetadataChanges: Bool = false) {
    self.document = document
    includesMetadata = includeMetadataChanges
  }

  /// Begins to listen.
  public func makeAsyncIterator() -> Iterator {
    Iterator(
      bufferedSnapshots(limit: Self.bufferLimit) {
        document.addSnapshotListener(includeMetadataChanges: includesMetadata, listener: $0)
      })
  }

  /// One reader; it listens until it is gone.
  public struct Iterator: AsyncIteratorProtocol {
    private var states: AsyncThrowingStream<DocumentSnapshot, any Error>.Iterator

    init(_ stream: AsyncThrowingStream<DocumentSnapshot, any Error>) {
      states = stream.makeAsyncIterator()
    }

    /// Waits for the next state.
    ///
    /// - Returns: `nil` when the task was cancelled.
    /// - Throws: The error that ended the listener.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(any Error) -> DocumentSnapshot? {
      try await states.next(isolation: actor)
    }
  }
}

extension Query {
  /// The result now, and again after every change that affects it.
  public var snapshots: QuerySnapshotsSequence { QuerySnapshotsSequence(self) }

  /// The result now, and again after every change that affects it; also when only metadata changed,
  /// if that is asked for.
  public func snapshots(includeMetadataChanges: Bool) -> QuerySnapshotsSequence {
    QuerySnapshotsSequence(self, includeMetadataChanges: includeMetadataChanges)
  }
}

extension DocumentReference {
  /// The document now, and again whenever it changes.
  public var snapshots: DocumentSnapshotsSequence { DocumentSnapshotsSequence(self) }

  /// The document now, and again whenever it changes; also when only metadata changed, if that is
  /// asked for.
  public func snapshots(includeMetadataChanges: Bool) -> DocumentSnapshotsSequence {
    DocumentSnapshotsSequence(self, includeMetadataChanges: includeMetadataChanges)
  }
}

/// Keeps what a listener is given, in order, until it is read.
///
/// - Parameter limit: The most that waits; one more ends the sequence with an error.
func bufferedSnapshots<Snapshot: Sendable>(
  limit: Int,
  _ listen: (@escaping (Snapshot?, (any Error)?) -> Void) -> any ListenerRegistration
) -> AsyncThrowingStream<Snapshot, any Error> {
  AsyncThrowingStream(bufferingPolicy: .bufferingOldest(limit)) { continuation in
    let registration = listen { snapshot, error in
      if let snapshot, case .dropped = continuation.yield(snapshot) {
        continuation.finish(
          throwing: FirestoreErrorCode.resourceExhausted.error(
            "More than \(limit) snapshots wait for their reader."))
      }
      if let error { continuation.finish(throwing: error) }
    }
    continuation.onTermination = { _ in registration.remove() }
  }
}
