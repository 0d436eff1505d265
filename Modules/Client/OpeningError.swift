public import TernSync

/// Why a database did not open. What is in its stores is as it was.
///
/// Caches are no reason: a client does without one, see ``ClientNotice/cacheUnusable(_:_:)``.
public enum OpeningError: Error, Hashable, Sendable {
  /// The queue of the tree, ``ClientParts/queue``, could not be read: that of whoever is signed in.
  /// The way out of damage is ``Tern/setDamagedAside(queue:of:ambient:)``.
  case queue(QueueError)
  /// The queue of the documents, ``DocumentParts/queue``, could not be read. The way out of damage
  /// is ``Tern/setDamagedAside(documentQueue:of:user:ambient:)``.
  case documentQueue(QueueError)
}
