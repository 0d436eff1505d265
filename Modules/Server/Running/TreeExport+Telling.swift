import TernLedger
import TernStorage

extension TreeExport {
  /// Tells everything that a ledger has stored, in the form of a backup.
  ///
  /// - Parameter time: The present moment, in milliseconds since 1970.
  func tell(
    _ source: any BackupSource, on base: BackupIndex?, at time: Int64,
    _ tell: @escaping @Sendable (TreeExport.Event) -> Void
  ) {
    let emit: ([UInt8]) throws(StorageError) -> Void = { piece throws(StorageError) in
      // In slices, so that a block with a large row does not fill the socket at once.
      var rest = piece[...]
      while !rest.isEmpty {
        let slice = rest.prefix(TreeExport.pieceBytes)
        guard self.waitForCredit(spending: slice.count) else { throw .abandoned }
        tell(.piece(Array(slice)))
        rest = rest.dropFirst(slice.count)
      }
    }
    do throws(LedgerError) {
      _ = try source.backUp(at: time, on: base, opened: { open(at: $0) }, emit: emit)
      tell(.end)
    } catch {
      if isWithdrawn { return tell(.withdrawn) }
      if error != .storage(.abandoned) { tell(.failed(error)) }
    }
  }
}
