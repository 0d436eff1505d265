import TernStorage

/// A snapshot of the store with the journal on top: everything that is durable.
///
/// Rows of streams are seen one by one, by key, which is how they are read.
final class JournaledReader: StoreReader {
  private let base: any StoreReader
  private let journal: Journal

  init(over base: any StoreReader, _ journal: Journal) {
    self.base = base
    self.journal = journal
  }

  func withValue<R>(
    for key: Span<UInt8>, _ body: (Span<UInt8>) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    if let stream = StreamRow.stream(ofKey: key), let row = journal.unsettledRow(of: stream) {
      return try body(row.span)
    }
    return try journal.pending.withValue(for: key, over: base, body)
  }

  func fill(_ page: inout RowPage, from scan: borrowing Scan) throws(StorageError) {
    _ = try journal.pending.fill(&page, from: scan, over: base)
  }
}
