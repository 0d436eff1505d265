public import TernStorage
public import TernSync

/// Why a database did not open. What is in its stores is as it was.
public enum OpeningError: Error, Hashable, Sendable {
  /// The queue of the tree, ``ClientParts/queue``, could not be read. The way out of damage is
  /// ``Tern/setDamagedAside(queue:ambient:)``.
  case queue(QueueError)
  /// The queue of the documents, ``DocumentParts/queue``, could not be read. The way out of damage
  /// is ``Tern/setDamagedAside(documentQueue:of:ambient:)``.
  case documentQueue(QueueError)
  /// The cache of the documents, ``DocumentParts/cache``, could not be read at all. Damaged records
  /// in it are no reason: they are dropped, and fetched again.
  case documentCache(StorageError)
}
