package import TernCore
import TernLedger
import TernStorage
import TernTreeRows

extension TernServer {
  /// Begins to tell what is at a path, as it is now: after everything that was carried out, and
  /// before everything that was not.
  ///
  /// Whether it may be read was judged before, by ``DirectRequest/Operation/readOrExport(_:)`` or
  /// a listen.
  ///
  /// An export whose reader takes nothing gives up its slot to a new one; see
  /// ``ServerLimits/exportStallMilliseconds``.
  ///
  /// - Parameters:
  ///   - address: Where the reader is, without a port.
  ///   - request: Who reads, when no session stands for them: whether they still may is judged
  ///     again whenever the clock ticks.
  ///   - tell: Hears what there is, on a thread of the export's own.
  /// - Returns: `nil` when as many are under way as may be, or the server has stopped.
  package func export(
    _ path: TreePath, _ form: TreeNode.JSONForm, of namespace: String,
    for request: DirectRequest? = nil, at address: String = "",
    tell: @escaping @Sendable (TreeExport.Event) -> Void
  ) -> TreeExport? {
    guard end == nil, exports.count < options.limits.exports || freePlace(for: address) else {
      return nil
    }
    let export = TreeExport(uptime: uptime)
    let rows = TreeRows(prefix: StoreLayout.namespace(namespace))
    nextTicket += 1
    let number = nextTicket
    let task = Task(executorPreference: ExportQueue()) { [ledger] in
      await export.tell(path, form, of: rows, from: ledger, tell)
      export.close()
      await self.forget(export: number)
    }
    var review = request
    review?.operation = .review(path)
    exports[number] = OpenExport(
      export: export, task: task, address: address, review: review)
    // The next batch must not be stored before the snapshot is there.
    export.waitUntilOpen()
    return export
  }

  /// Ends the export whose reader takes nothing, of the address that has most of them.
  ///
  /// - Returns: Whether there is a place for one more.
  func freePlace(for address: String) -> Bool {
    let patience = options.limits.exportStallMilliseconds
    guard let last = exports.stalest(for: address, patience: patience),
      let open = exports.removeValue(forKey: last)
    else { return false }
    open.export.withdraw()
    leavingExports[last] = open
    return true
  }

  func forget(export number: UInt64) {
    exports[number] = nil
    leavingExports[number] = nil
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

  /// Ends all exports, and waits until none of them reads the store.
  func endExports() async {
    let open = Array(exports.values) + Array(leavingExports.values)
    for one in open { one.export.cancel() }
    for one in open { await one.task.value }
  }
}

extension [UInt64: OpenExport] {
  /// The export that has to make room for one more, if any does.
  ///
  /// A reader at an address with fewer exports does not wait until the others' patience is over.
  fileprivate func stalest(for address: String, patience: Int64) -> UInt64? {
    var counts: [String: Int] = [:]
    for open in values { counts[open.address, default: 0] += 1 }
    let own = counts[address, default: 0]
    let stalled = compactMap { number, open -> (number: UInt64, count: Int, time: Int64)? in
      let count = counts[open.address, default: 0]
      let time = open.export.stalledMilliseconds
      return time > (count > own + 1 ? patience / 10 : patience) ? (number, count, time) : nil
    }
    return stalled.max { ($0.count, $0.time, $0.number) < ($1.count, $1.time, $1.number) }?.number
  }
}

/// An export that is under way.
struct OpenExport {
  let export: TreeExport
  let task: Task<Void, Never>
  /// The address of its reader, without a port.
  let address: String
  /// Asks whether its reader may still have it; `nil` when a session answers for that.
  let review: DirectRequest?
  /// The uptime at which it has to end, in milliseconds; `nil` for any time.
  var deadline: Int64?

  /// True for a backup.
  var isBackup: Bool { deadline != nil }

  /// Ends a backup that costs too much: one that lasts too long, one without a reader, and any when
  /// the disk is full.
  func review(now: Int64, stall: Int64, isDiskFull: Bool) {
    guard let deadline else { return }
    if isDiskFull || export.stalledMilliseconds > stall || now > deadline { export.withdraw() }
  }
}
