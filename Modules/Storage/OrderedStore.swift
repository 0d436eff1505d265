/// An ordered map from byte strings to byte strings: many snapshots, one writer.
///
/// Keys compare as unsigned bytes; a prefix sorts before its extensions. Keys hold 0 to
/// ``StorageLimits/keyBytes`` bytes, values 0 to ``StorageLimits/valueBytes``, on every backend.
/// Every method may be called from any thread; `read` never waits for a writer.
public protocol OrderedStore: Sendable {
  /// Lends one consistent snapshot; writes that commit meanwhile stay invisible to it.
  ///
  /// - Throws: What `body` throws; ``StorageError/closed`` after ``close()``;
  ///   ``StorageError/failed`` after a failed sync; ``StorageError/tooManyReaders(limit:)``.
  func read<R>(
    _ body: (borrowing Snapshot) throws(StorageError) -> R
  ) throws(StorageError) -> R

  /// Lends the only write transaction: durable when `body` returns, forgotten when it throws.
  ///
  /// Writers wait for each other. A write inside the body of another write on the same store is a
  /// mistake that stops the program or waits for ever.
  ///
  /// - Throws: What `body` throws, with nothing written; the error of the commit otherwise. After
  ///   ``StorageError/syncFailed(code:)`` every call throws ``StorageError/failed`` until the store
  ///   is opened again.
  func write<R>(
    _ body: (inout WriteTransaction) throws(StorageError) -> R
  ) throws(StorageError) -> R

  /// Removes everything and every trace of it: no byte of a row stays in the store's files.
  ///
  /// The store is empty and works on. When the program ends in the middle, the next opening of
  /// the store finishes the wipe.
  ///
  /// - Throws: ``StorageError/inUse(path:)`` when snapshots are still lent after five seconds, with
  ///   nothing done; another error stops the store until it is opened again, which finishes.
  func wipe() throws(StorageError)

  /// Examines the next slice, about `bytes` bytes, of the files below the rows, and moves
  /// ``StoreInspection/stage`` on: to `.files(next:)`, or to `.rows(after: nil)` at their end.
  ///
  /// Corrupt bytes are findings, not errors. A store without files moves on at once, which is the
  /// default.
  func inspectFiles(_ inspection: inout StoreInspection, bytes: Int) throws(StorageError)

  /// Gives the file system back the space that removed and overwritten rows have left.
  ///
  /// An offline operation: no snapshot is lent and no other caller writes meanwhile. The rows stay
  /// the same. When the program ends in the middle, the store is as it was before.
  ///
  /// - Throws: ``StorageError/inUse(path:)`` when snapshots are still lent;
  ///   ``StorageError/diskFull`` when there is no space for the copy.
  /// - Complexity: O(*size of the store*).
  func compact() throws(StorageError)

  /// Lets go of what it holds only to be faster, and that was not used since the last call: idle
  /// connections and their caches. Called every few seconds while a program runs.
  func releaseIdle()

  /// True for a store of an earlier format that protects its bytes less; ``compact()`` brings it up
  /// to date. False by default.
  var isOldFormat: Bool { get }

  /// Ends the store: later calls throw ``StorageError/closed``. Closing twice does nothing.
  ///
  /// Snapshots still lent stay valid; files are let go when the last of them ends.
  func close()
}

extension OrderedStore {
  /// For stores that keep no space that they could give back: does nothing.
  public func compact() throws(StorageError) {}

  /// For stores that hold nothing of the kind.
  public func releaseIdle() {}

  /// For stores of which there is one format.
  public var isOldFormat: Bool { false }
}
