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
  /// - Parameters:
  ///   - request: Who reads, when no session stands for them: whether they still may is judged again
  ///     whenever the clock ticks.
  ///   - tell: Hears what there is, on a thread of the export's own.
  /// - Returns: `nil` when as many are under way as may be, or the server has stopped.
  package func export(
    _ path: TreePath, _ form: TreeNode.JSONForm, of namespace: String,
    for request: DirectRequest? = nil, tell: @escaping @Sendable (TreeExport.Event) -> Void
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
    var review = request
    review?.operation = .review(path)
    exports[number] = OpenExport(export: export, task: task, review: review)
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
      if isWhole { tell(.end) } else if export.isWithdrawn { tell(.withdrawn) }
    } catch {
      tell(.failed(error))
    }
  }

  /// Ends what is told to those who may not read it any more: their credential counts no longer,
  /// or the rules say something else now.
  func reviewExports() {
    for open in exports.values {
      guard let review = open.review else { continue }
      ask(review) { answer in
        switch answer {
        case .refused(.unauthenticated), .refused(.permissionDenied): open.export.withdraw()
        // Anything else says nothing about them.
        default: break
        }
      }
    }
  }

  /// Ends what is told, and waits until nobody reads the store any more.
  func endExports() async {
    let open = Array(exports.values)
    for one in open { one.export.cancel() }
    for one in open { await one.task.value }
  }
}

/// An export that is under way.
struct OpenExport {
  let export: TreeExport
  let task: Task<Void, Never>
  /// Asks whether its reader may still have it; `nil` when a session answers for that.
  let review: DirectRequest?
}
