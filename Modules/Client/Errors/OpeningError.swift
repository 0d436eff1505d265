public import TernSync

/// The reason a database did not open. Its stores are unchanged.
///
/// Caches are no reason: a client does without one, see ``ClientNotice/cacheUnusable(_:_:)``.
public enum OpeningError: Error, Hashable, Sendable {
  /// The queue of the tree, ``ClientParts/queue``, could not be read: that of the user signed in.
  /// The way out of damage is ``TernDatabase/setDamagedAside(queue:of:ambient:)``.
  case queue(QueueError)
  /// The queue of the documents, ``DocumentParts/queue``, could not be read. Damaged records in it
  /// keep closed only what is opened for the documents alone, ``Documents/open``. The way out
  /// is ``TernDatabase/setDamagedAside(documentQueue:of:user:ambient:)``.
  case documentQueue(QueueError)
}
