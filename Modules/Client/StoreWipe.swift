import TernStorage
import TernSync

/// Makes the stores of a client forget everything: all of them, also when the program ends in the
/// middle.
///
/// The queue is marked first and erased last; the next opening of a queue with the mark finishes.
/// Source: Docs/Formats/client-store.md, section "Forgetting everything".
struct StoreWipe {
  let queue: any OrderedStore
  /// The other stores to erase; `nil` for missing ones.
  let caches: [(any OrderedStore)?]

  /// Forgets everything; neither store may be in use.
  func run() throws(StorageError) {
    try WriteQueue.markForWiping(in: queue)
    for cache in caches { try cache?.wipe() }
    try queue.wipe()
  }

  /// Finishes what an earlier run has begun.
  func finish() throws(StorageError) {
    if try WriteQueue.isMarkedForWiping(in: queue) { try run() }
  }
}
