import Synchronization
public import TernStorage

/// A store in memory: nothing survives it, and snapshots cost nothing.
///
/// A write that returned is as durable as the process; there is no disk to check, so records carry
/// no checksum.
///
/// `writing` admits one writer; `state` is held only to read or replace the tree, so that readers
/// never wait for a writer's work.
public final class MemoryStore: OrderedStore {
  private let state: Mutex<State>
  private let writing = Mutex<Void>(())

  /// The newest committed tree.
  ///
  /// `transactions` numbers the writers. It never repeats, since pages compare their owner with it.
  private struct State: Sendable {
    var tree: MemoryTree
    var transactions: UInt64 = 0
    var isClosed = false
  }

  /// An empty store.
  public convenience init() { self.init(MemoryTree()) }

  private init(_ tree: MemoryTree) { state = Mutex(State(tree: tree)) }

  public func read<R>(
    _ body: (borrowing Snapshot) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    let reader: any StoreReader = MemoryReader(try committed())
    return try body(Snapshot(reader))
  }

  public func write<R>(
    _ body: (inout WriteTransaction) throws(StorageError) -> R
  ) throws(StorageError) -> R {
    var result: R?
    try writing.withLock { _ throws(StorageError) in
      let number = state.withLock { state in
        state.transactions += 1
        return state.transactions
      }
      let memory = MemoryWriter(try committed(), number)
      let writer: any StoreWriter = memory
      var transaction = WriteTransaction(writer)
      result = try body(&transaction)
      let tree = memory.tree
      state.withLock { $0.tree = tree }
    }
    guard let result else { throw .abandoned }
    return result
  }

  /// Forgets the rows; memory that held them is not overwritten.
  public func wipe() throws(StorageError) {
    try writing.withLock { _ throws(StorageError) in
      _ = try committed()
      state.withLock { $0.tree = MemoryTree() }
    }
  }

  public func close() {
    state.withLock { $0.isClosed = true }
  }

  /// Another store with the rows this one has now; neither sees the other's later writes.
  ///
  /// The fork continues with the same number, so that it does not take pages of the original for
  /// its own.
  ///
  /// - Complexity: O(1).
  package func fork() -> MemoryStore {
    state.withLock { state in
      let fork = MemoryStore(state.tree)
      let transactions = state.transactions
      fork.state.withLock { $0.transactions = transactions }
      return fork
    }
  }

  private func committed() throws(StorageError) -> MemoryTree {
    let (tree, isClosed) = state.withLock { ($0.tree, $0.isClosed) }
    if isClosed { throw .closed }
    return tree
  }
}

/// The backend's side of a snapshot.
class MemoryReader: StoreReader {
  fileprivate(set) var tree: MemoryTree

  init(_ tree: MemoryTree) { self.tree = tree }

  final func withValue<R>(
    for key: Span<UInt8>, _ body: (Span<UInt8>) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    try tree.withValue(for: key, body)
  }

  final func fill(_ page: inout RowPage, from scan: borrowing Scan) throws(StorageError) {
    tree.fill(&page, from: scan)
  }
}

/// The backend's side of the write transaction.
private final class MemoryWriter: MemoryReader, StoreWriter {
  private let number: UInt64

  init(_ tree: MemoryTree, _ number: UInt64) {
    self.number = number
    super.init(tree)
  }

  func put(_ value: Span<UInt8>, for key: Span<UInt8>) {
    tree.put(value, for: key, owner: number)
  }

  func remove(_ range: KeyRange) {
    tree.remove(from: range.lower, to: range.upper, owner: number)
  }
}
