import Synchronization
import TernCommitLog
package import TernLedger

/// The part that a server takes in the changes of a node's copy while another node leads.
final class CopyFollowing: Sendable {
  private struct State {
    var server: (any CopyServer)?
    /// True while the server takes part.
    var isBegun = false
    /// The uptime in milliseconds at which the copy was current last.
    var current = Int64.min
  }

  private let state = Mutex(State())

  /// The longest time, in milliseconds, for which a server serves from a copy that may be old.
  static let longestAge: Int64 = 30_000

  /// Sets the server; `nil` for none.
  func set(_ server: (any CopyServer)?) {
    state.withLock { $0 = State(server: server, current: $0.current) }
  }

  /// Notes that the copy is current.
  func noteCurrent(at uptime: Int64) { state.withLock { $0.current = uptime } }

  /// The milliseconds since the copy was known to be current; `nil` before that.
  func age(at uptime: Int64) -> Int64? {
    let current = state.withLock { $0.current }
    return current == .min ? nil : uptime - current
  }

  /// Lets the server begin to serve from the copy, when another node leads.
  func letServe(_ ledger: SharedLedger) async throws(NodeError) {
    let mayServe = {
      ledger.state.withLock { $0.isFollowing && $0.standing.leader != nil }
    }
    guard let server = state.withLock({ $0.isBegun ? nil : $0.server }), mayServe() else { return }
    try await ledger.readLog()
    await ledger.turn.take()
    defer { ledger.turn.give() }
    guard mayServe(), await server.beginFollowing() else { return }
    state.withLock { $0.isBegun = $0.server != nil }
  }

  /// Ends what the server serves from a copy that is of no use, or that may be too old.
  func review(_ ledger: SharedLedger) async {
    guard state.withLock({ $0.isBegun }) else { return }
    let (isFollowing, reason) = ledger.state.withLock { ($0.isFollowing, $0.reason) }
    let age = age(at: ledger.uptime()) ?? 0
    if isFollowing, age <= Self.longestAge { return }
    await end(isFollowing ? "the node has not reached the log for \(age) ms" : reason)
  }

  /// Lets the server apply batches.
  ///
  /// - Returns: False when no server did.
  func take(_ batches: [EmbeddedLedger.PlacedBatch]) async -> Bool {
    guard let server = state.withLock({ $0.isBegun ? $0.server : nil }) else { return false }
    if await server.take(batches) { return true }
    state.withLock { $0.isBegun = false }
    return false
  }

  /// The server takes no part any more. It is not told: it has ended, or this node leads.
  func forget() { state.withLock { $0.isBegun = false } }

  /// Ends the part of the server.
  private func end(_ reason: String) async {
    let server = state.withLock { state in
      exchange(&state.isBegun, with: false) ? state.server : nil
    }
    await server?.endFollowing(reason)
  }
}

extension SharedLedger: FollowedLedger {
  package func follow(with server: (any CopyServer)?) { following.set(server) }

  package func apply(_ batches: [EmbeddedLedger.PlacedBatch]) throws(LedgerError) {
    try openCopy().apply(batches)
  }

  package func catchUp() async throws(LedgerError) {
    do throws(NodeError) { try await readLog() } catch { throw error.ledgerError }
    let other = state.withLock { $0.isFollowing ? nil : $0.reason }
    if let other { throw .unavailable(reason: other) }
  }
}
