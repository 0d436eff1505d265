import Synchronization
import TernCore
import TernLedger
import TernStorage
import TernTreeRows

/// The reads that go piece by piece, each on a thread of its own.
final class ExportTable: Sendable {
  fileprivate struct State {
    /// By number.
    var open: [UInt64: OpenExport] = [:]
    /// Exports that lost their place and have not ended yet, by number.
    var leaving: [UInt64: OpenExport] = [:]
    var last: UInt64 = 0
  }

  /// The long reads of both models, which go on beside the executor as exports do.
  let reads: ReadPool
  private let ledger: any Ledger
  private let limits: ServerLimits
  private let uptime: @Sendable () -> Int64
  private let state = Mutex(State())

  init(_ ledger: any Ledger, _ limits: ServerLimits, uptime: @escaping @Sendable () -> Int64) {
    self.ledger = ledger
    self.limits = limits
    self.uptime = uptime
    reads = ReadPool(ledger, limits, uptime: uptime)
  }

  /// True when nothing is read beside the executor.
  var isIdle: Bool { count == 0 && reads.count == 0 }

  /// The exports under way.
  var all: [TreeExport] { state.withLock { $0.open.values.map(\.export) } }

  /// The number of exports under way.
  var count: Int { state.withLock { $0.open.count } }

  /// Begins an export, and waits until it has its snapshot.
  ///
  /// - Parameter review: Asks whether its reader may still have it; `nil` when a session answers
  ///   for that.
  /// - Returns: `nil` when as many are under way as may be.
  func begin(
    _ path: TreePath, _ form: TreeNode.JSONForm, of namespace: String, review: DirectRequest?,
    at address: String, tell: @escaping @Sendable (TreeExport.Event) -> Void
  ) -> TreeExport? {
    let rows = TreeRows(prefix: StoreLayout.namespace(namespace))
    let bounds = ExportBounds(
      isBackup: false, deadline: uptime() + limits.exportMilliseconds, storeBytes: nil)
    return begin(review: review, at: address, bounds) { [ledger] export in
      await Self.read(path, form, of: rows, from: ledger, export, tell)
    }
  }

  /// Begins to tell everything that is stored, as it is now, in the form of a backup.
  ///
  /// It reads on a thread of its own, as an export does, and holds one snapshot of the store. It
  /// ends without an end when its reader takes nothing for too long, when it lasts too long, and
  /// when the disk is full: what it keeps on the disk is needed then.
  ///
  /// - Parameters:
  ///   - base: The backup that this one is to be an increment of.
  ///   - review: An administrator's request, by ``DirectRequest/Operation/administer``; asked again
  ///     whenever the clock ticks.
  ///   - address: The address of its reader, without a port.
  ///   - time: The present moment, in milliseconds since 1970.
  ///   - storeBytes: The bytes of the store's files; `nil` when that is not known.
  ///   - tell: Called with the pieces, on a thread of the backup's own.
  /// - Returns: `nil` when as many are under way as may be, or the ledger has no rows of its own.
  func beginBackup(
    on base: BackupIndex?, review: DirectRequest, at address: String, time: Int64,
    storeBytes: Int?, tell: @escaping @Sendable (TreeExport.Event) -> Void
  ) -> TreeExport? {
    guard let source = ledger as? any BackupSource else { return nil }
    let bounds = ExportBounds(
      isBackup: true, deadline: uptime() + limits.backupMilliseconds,
      storeBytes: storeBytes.map { $0 + limits.backupGrowth(of: $0) })
    return begin(review: review, at: address, bounds) { export in
      export.tell(source, on: base, at: time, tell)
    }
  }

  /// Ends the exports that cost too much: those that last too long and those whose snapshot keeps
  /// too much on the disk; of backups also those without a reader, and all when the disk is full.
  ///
  /// - Parameter storeBytes: Tells the bytes of the store's files; asked while there are exports.
  /// - Returns: The reasons, one for each backup that has been ended now.
  func reviewBounds(isDiskFull: Bool, storeBytes: () -> Int?) -> [BackupEnd] {
    let now = uptime()
    if count == 0 { return [] }
    let bytes = storeBytes()
    let open = state.withLock { state in
      // An export begins without looking at files: its growth counts from the first review.
      for (number, one) in state.open where one.bounds.storeBytes == nil {
        state.open[number]?.bounds.storeBytes = bytes.map { $0 + limits.backupGrowth(of: $0) }
      }
      return state.open.values.map { ($0.export, $0.bounds) }
    }
    return open.compactMap { export, bounds in
      // One whose reader wants no more ends by itself, at once.
      if export.isCancelled { return nil }
      let end: BackupEnd
      if bounds.isBackup, isDiskFull {
        end = .diskFull
      } else if bounds.isBackup, export.stalledMilliseconds > limits.backupStallMilliseconds {
        end = .unread(milliseconds: limits.backupStallMilliseconds)
      } else if now > bounds.deadline {
        end = .tooLong(milliseconds: limits.backupMilliseconds)
      } else if let bytes, let most = bounds.storeBytes, bytes > most {
        end = .storeGrew(toBytes: bytes, limitBytes: most)
      } else {
        return nil
      }
      export.withdraw()
      return bounds.isBackup ? end : nil
    }
  }

  private func begin(
    review: DirectRequest?, at address: String, _ bounds: ExportBounds,
    read: @escaping @Sendable (TreeExport) async -> Void
  ) -> TreeExport? {
    let export = TreeExport(uptime: uptime)
    let (limit, patience) = (limits.exports, limits.exportStallMilliseconds)
    let isBegun = state.withLock { state in
      if bounds.isBackup, state.backupCount >= limits.backups { return false }
      guard state.open.count < limit || state.freePlace(for: address, patience) else {
        return false
      }
      state.last += 1
      let number = state.last
      let task = Task(executorPreference: ExportQueue()) {
        await read(export)
        export.close()
        self.forget(number)
      }
      state.open[number] = OpenExport(
        export: export, task: task, address: address, review: review, bounds: bounds)
      return true
    }
    guard isBegun else { return nil }
    // The next batch must not be stored before the snapshot is there.
    export.waitUntilOpen()
    return export
  }

  private func forget(_ number: UInt64) {
    state.withLock { state in
      state.open[number] = nil
      state.leaving[number] = nil
    }
  }

  /// Ends the exports whose readers may not have them any more: their credential counts no longer,
  /// or the rules deny them now. Readers that a session answers for are left out.
  func review(asking ask: (DirectRequest, @escaping @Sendable (DirectAnswer) -> Void) -> Void) {
    let underReview = state.withLock { state in
      state.open.values.compactMap { open in open.review.map { (open.export, $0) } }
    }
    for (export, review) in underReview {
      ask(review) { answer in
        switch answer {
        case .refused(.unauthenticated), .refused(.permissionDenied): export.withdraw()
        // Other answers do not concern the right to read.
        default: break
        }
      }
    }
  }

  /// Ends all exports and reads, and waits until none of them reads the store.
  func endAll() async {
    await reads.endAll()
    let all = state.withLock { Array($0.open.values) + Array($0.leaving.values) }
    for one in all { one.export.cancel() }
    for one in all { await one.task.value }
  }

  private static func read(
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
}

extension ExportTable.State {
  fileprivate var backupCount: Int { open.values.count { $0.bounds.isBackup } }

  /// Ends the export that has stalled and is to give its place up.
  ///
  /// - Returns: Whether there is a place for one more.
  fileprivate mutating func freePlace(for address: String, _ patience: Int64) -> Bool {
    guard let (number, one) = open.evict(for: address, patience) else { return false }
    one.export.withdraw()
    leaving[number] = one
    return true
  }
}

/// An export that is under way.
private struct OpenExport: ExportPlaceHolder {
  let export: TreeExport
  let task: Task<Void, Never>
  /// The address of its reader, without a port.
  let address: String
  /// Asks whether its reader may still have it; `nil` when a session answers for that.
  let review: DirectRequest?
  var bounds: ExportBounds

  var stalledMilliseconds: Int64 { export.stalledMilliseconds }
}
