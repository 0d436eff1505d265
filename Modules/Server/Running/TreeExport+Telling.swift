import TernCore
import TernLedger
import TernStorage
import TernTreeRows

extension TreeExport {
  /// Tells what is at a path, and returns when there is no more to tell.
  func tell(
    _ path: TreePath, _ form: TreeNode.JSONForm, of rows: TreeRows, from ledger: any Ledger,
    _ tell: @Sendable (TreeExport.Event) -> Void
  ) async {
    do throws(LedgerError) {
      let isWhole = try await ledger.read { snapshot throws(StorageError) in
        open(at: snapshot.version)
        var isTaken = true
        try rows.writeJSON(
          of: path, form, pieceBytes: TreeExport.pieceBytes, in: snapshot
        ) { piece throws(StorageError) in
          isTaken = waitForCredit(spending: piece.count)
          if isTaken { tell(.piece(piece)) }
          return isTaken
        }
        return isTaken
      }
      if isWhole { tell(.end) } else if isWithdrawn { tell(.withdrawn) }
    } catch {
      tell(.failed(error))
    }
  }

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
