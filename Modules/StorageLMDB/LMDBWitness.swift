import TernStorage

/// The witness of an LMDB store: which commit is known to be durable.
///
/// A relaxed commit is durable with the next one, whose sync of the pages takes its root along.
struct LMDBWitness: Sendable {
  static let name = "witness"

  private let file: Witness
  private let durability: Durability
  /// The newest commit of this store.
  private var newest: LMDBCommit?

  init(_ directory: StoreDirectory, _ durability: Durability) {
    file = Witness(path: directory.file(Self.name))
    self.durability = durability
  }

  /// The newest commit that was known to be durable, if it was noted.
  func read() -> LMDBCommit? { LMDBCommit(file.read()) }

  /// Begins with the commit found in a file. One that another process left may not be durable yet.
  mutating func begin(with handle: LMDBHandle) throws(StorageError) {
    newest = handle.examined
    guard let newest, read() != newest else { return }
    try handle.sync()
    file.write(newest.payload)
  }

  /// Notes a commit that has returned.
  mutating func advance(_ handle: LMDBHandle) {
    guard let commit = handle.newestCommit, commit != newest else { return }
    if let durable = durability == .durable ? commit : newest { file.write(durable.payload) }
    newest = commit
  }

  /// Makes relaxed commits durable and notes the last one, so that it cannot vanish unnoticed.
  mutating func end(_ handle: LMDBHandle) {
    guard durability == .relaxed, let newest, (try? handle.sync()) != nil else { return }
    file.write(newest.payload)
  }

  /// Removes the file, before another file takes the place of the store's.
  mutating func remove() {
    file.remove()
    newest = nil
  }
}
