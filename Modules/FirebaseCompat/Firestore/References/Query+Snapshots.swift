extension Query {
  /// The result now, and again after every change that affects it, until the task that reads it
  /// ends; a slow reader skips results, and then ``QuerySnapshot/documentChanges`` do not add up.
  public var snapshots: AsyncThrowingStream<QuerySnapshot, any Error> {
    snapshots(includeMetadataChanges: false)
  }

  /// The same; also when only metadata changed, if that is asked for.
  public func snapshots(
    includeMetadataChanges: Bool
  ) -> AsyncThrowingStream<QuerySnapshot, any Error> {
    .heard { addSnapshotListener(includeMetadataChanges: includeMetadataChanges, listener: $0) }
  }
}

extension DocumentReference {
  /// The document now, and again whenever it changes, until the task that reads it ends; a slow
  /// reader skips states.
  public var snapshots: AsyncThrowingStream<DocumentSnapshot, any Error> {
    snapshots(includeMetadataChanges: false)
  }

  /// The same; also when only metadata changed, if that is asked for.
  public func snapshots(
    includeMetadataChanges: Bool
  ) -> AsyncThrowingStream<DocumentSnapshot, any Error> {
    .heard { addSnapshotListener(includeMetadataChanges: includeMetadataChanges, listener: $0) }
  }
}

extension AsyncThrowingStream where Element: Sendable, Failure == any Error {
  /// What a listener hears, as a sequence.
  fileprivate static func heard(
    _ listen: (@escaping (Element?, (any Error)?) -> Void) -> any ListenerRegistration
  ) -> AsyncThrowingStream {
    AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let registration = listen { snapshot, error in
        if let snapshot { continuation.yield(snapshot) }
        if let error { continuation.finish(throwing: error) }
      }
      continuation.onTermination = { _ in registration.remove() }
    }
  }
}
