import TernLedger
import TernSync

/// The waits of a following server for its copy of the log: each ends when the copy holds all that
/// the log held when the wait began. Lives and is used on the server's executor only.
///
/// A *catch-up* reads the log to its end; they are numbered. A wait names the first one that begins
/// after it, so that one catch-up ends all waits that came while another was under way.
/// Source: Docs/Decisions/0068-followers-that-serve.md.
///
/// Invariants: `caughtUp <= begun`; a wait for number *n* ends when `caughtUp` reaches *n*. At most
/// one catch-up is under way. Waits that come during it share the next one, so that the load on the
/// log does not grow with the clients.
final class CopyWaits {
  /// News for the clients that wait; ``Forwarder/handle(_:at:)`` receives it.
  enum Progress {
    /// The copy has caught up: waits up to ``caughtUp`` are over. Or the log has just gone out of
    /// reach: reads wait no longer.
    case current
    /// The log has been out of reach for longer than a client waits.
    case unreachable
  }

  private let ledger: any FollowedLedger
  /// Requests without a session that wait, in order.
  private var actions: [(catchUp: UInt64, action: @Sendable (_ isCurrent: Bool) -> Void)] = []
  /// The number of the catch-up that was begun last.
  private var begun: UInt64 = 0
  /// The number of the newest catch-up that a wait names.
  private var requested: UInt64 = 0
  /// The number of the newest catch-up that a wait names which an earlier one may end, too.
  ///
  /// An answer that names its version often ends with the catch-up under way; then the next
  /// catch-up is not needed at all.
  private var spared: UInt64 = 0
  /// The number of the newest catch-up that is over.
  private(set) var caughtUp: UInt64 = 0
  private var isCatchingUp = false
  /// The uptime, in milliseconds, since which no catch-up has worked.
  private var failingSince: Int64?
  private var isEnded = false

  init(for ledger: any FollowedLedger) { self.ledger = ledger }

  /// True while the log is out of reach.
  var isFailing: Bool { failingSince != nil }

  /// The number of actions that wait.
  var actionCount: Int { actions.count }

  /// Begins a wait.
  ///
  /// - Parameter isSpared: True when the catch-up under way may end it as well. The next one is
  ///   begun only if that has left an answer of the leader waiting.
  /// - Returns: The number of the catch-up with which it ends.
  func request(isSpared: Bool = false, at server: isolated TernServer) -> UInt64 {
    let number = begun + 1
    if isSpared, isCatchingUp { spared = number } else { requested = number }
    if !isCatchingUp, !isEnded {
      isCatchingUp = true
      Task { await Self.catchUp(self, at: server) }
    }
    return number
  }

  /// Calls `action` when the copy holds all that the log holds now, or is not served from any more.
  func perform(
    at server: isolated TernServer, _ action: @escaping @Sendable (_ isCurrent: Bool) -> Void
  ) {
    actions.append((request(at: server), action))
  }

  /// Ends all waits: the server serves no clients from the copy any more.
  func end() {
    isEnded = true
    endActions()
  }

  private func endActions() {
    for (_, action) in exchange(&actions, with: []) { action(false) }
  }

  /// Reads the log to its end until no wait is left.
  ///
  /// A failed catch-up is repeated after ``Forwarder/retryPause`` for as long as anything waits.
  private static func catchUp(_ waits: CopyWaits, at server: isolated TernServer) async {
    while waits.requested > waits.caughtUp, !waits.isEnded {
      waits.begun += 1
      let number = waits.begun
      do throws(LedgerError) {
        try await waits.ledger.catchUp()
        waits.finish(number, at: server)
      } catch {
        waits.fail(at: server)
        try? await server.ambient.clock.sleep(for: Forwarder.retryPause)
      }
    }
    waits.isCatchingUp = false
  }

  private func finish(_ number: UInt64, at server: isolated TernServer) {
    caughtUp = number
    failingSince = nil
    if isEnded { return }
    let ready = actions.prefix { $0.catchUp <= number }
    actions.removeFirst(ready.count)
    for (_, action) in ready { action(true) }
    server.part.forwarder?.handle(.current, at: server)
    if spared > number, server.part.forwarder?.hasArrivals == true {
      requested = max(requested, spared)
    }
  }

  /// Lets go the clients that have waited for too long.
  ///
  /// Waiting requests are answered after ``Forwarder/patience``, and clients' links are ended. The
  /// attempts go on for those that come later.
  private func fail(at server: isolated TernServer) {
    if isEnded { return }
    let since = failingSince ?? server.uptime()
    let isFirst = exchange(&failingSince, with: since) == nil
    // Reads go on with the copy as it is.
    if isFirst { server.part.forwarder?.handle(.current, at: server) }
    guard server.uptime() - since >= Forwarder.patience else { return }
    failingSince = nil
    endActions()
    server.part.forwarder?.handle(.unreachable, at: server)
  }
}
