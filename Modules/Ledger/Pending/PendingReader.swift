package import TernStorage

/// A snapshot with changes on top: what the store will hold once they are committed.
///
/// One batch of writes is decided against one of these, so that each write sees those before it.
/// It lives no longer than the snapshot it was made from.
package final class PendingReader: StoreReader {
  private let base: any StoreReader
  /// The changes so far.
  package private(set) var pending = PendingRows()

  /// A reader of `base` without changes yet.
  package init(over base: any StoreReader) {
    self.base = base
  }

  /// Adds changes that later reads see.
  package func apply(_ mutations: [Mutation]) {
    pending.apply(mutations)
  }

  package func withValue<R>(
    for key: Span<UInt8>, _ body: (Span<UInt8>) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    try pending.withValue(for: key, over: base, body)
  }

  package func fill(_ page: inout RowPage, from scan: borrowing Scan) throws(StorageError) {
    let empty = try pending.fill(&page, from: scan, over: base)
    if let empty { pending.noteEmpty(empty) }
  }
}
