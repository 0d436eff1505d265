package import TernCore
import TernLedger
import TernStorage
import TernTreeEngine

extension TernServer {
  /// Begins to tell what is at a path, as it is now: after everything that was carried out, and
  /// before everything that was not.
  ///
  /// Whether it may be read was judged before, by ``DirectRequest/Operation/readOrExport(_:)`` or
  /// a listen.
  ///
  /// - Parameter tell: Hears what there is, on a thread of the export's own.
  /// - Returns: `nil` when as many are under way as may be, or the server has stopped.
  package func export(
    _ path: TreePath, _ form: TreeNode.JSONForm, of namespace: String,
    tell: @escaping @Sendable (TreeExport.Event) -> Void
  ) -> TreeExport? {
    guard end == nil, exports.count < options.limits.exports else { return nil }
    let export = TreeExport()
    let rows = TreeRows(prefix: StoreLayout.namespace(namespace))
    nextTicket += 1
    let number = nextTicket
    let task = Task(executorPreference: ExportLane()) { [ledger] in
      await Self.read(path, form, of: rows, from: ledger, export, tell)
      export.close()
      await self.forget(export: number)
    }
    exports[number] = (export, task)
    // The next batch must not be stored before the snapshot is there.
    export.waitUntilOpen()
    return export
  }

  private func forget(export number: UInt64) { exports[number] = nil }

  private nonisolated static func read(
    _ path: TreePath, _ form: TreeNode.JSONForm, of rows: TreeRows, from ledger: any Ledger,
    _ export: TreeExport, _ tell: @Sendable (TreeExport.Event) -> Void
  ) async {
    do throws(LedgerError) {
      let isWhole = try await ledger.read { snapshot throws(StorageError) in
        export.open(at: snapshot.version)
        var isTaken = true
        try rows.writeJSON(
          of: path, form, pieceBytes: TreeExport.pieceBytes, in: snapshot
        ) { piece throws(StorageError) in
          isTaken = export.waitForCredit(spending: piece.count)
          if isTaken { tell(.piece(piece)) }
          return isTaken
        }
        return isTaken
      }
      if isWhole { tell(.end) }
    } catch {
      tell(.failed(error))
    }
  }

  /// Ends what is told, and waits until nobody reads the store any more.
  func endExports() async {
    let open = Array(exports.values)
    for (export, _) in open { export.cancel() }
    for (_, task) in open { await task.value }
  }
}
