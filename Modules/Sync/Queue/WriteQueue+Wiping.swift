package import TernStorage

// A mark beside the queue, for those who forget several stores and must not forget only some.

extension WriteQueue {
  /// Notes in the store of a queue that all of it is to be forgotten.
  package static func markForWiping(in store: any OrderedStore) throws(StorageError) {
    try store.write { transaction throws(StorageError) in
      try transaction.put([], for: QueueKeys.wipe)
    }
  }

  /// Returns true when the store of a queue is marked for erasure.
  package static func isMarkedForWiping(
    in store: any OrderedStore
  ) throws(StorageError) -> Bool {
    try store.read { snapshot throws(StorageError) in
      try snapshot.contains(QueueKeys.wipe)
    }
  }
}
