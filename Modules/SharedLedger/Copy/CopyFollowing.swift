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
    /// Returns how the server serves clients.
    var service: @Sendable () -> NodeService? = { nil }
  }

  private let state = Mutex(State())

  /// The longest time, in milliseconds, for which a server serves from a copy that may be old.
  static let longestAge: Int64 = 30_000

  /// Sets the server; `nil` for none.
  func set(_ server: (any CopyServer)?) {
    state.withLock { ($0.server, $0.isBegun) = (server, false) }
  }

  /// Sets the function that returns how the server serves clients.
  func setService(_ service: @escaping @Sendable () -> NodeService?) {
    state.withLock { $0.service = service }
  }

  /// The service of the server to clients; `nil` when it is not known.
  var service: NodeService? { state.withLock { $0.service }() }

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
    let (known, isBegun) = state.withLock { ($0.server, $0.isBegun) }
    guard let server = known, mayServe() else { return }
    if isBegun {
      // It may have given up by itself.
      if await server.isFollowing { return }
      state.withLock { $0.isBegun = false }
    }
    try await ledger.readLog(isForServer: true)
    // Without the turn, for which a batch of its last term may wait.
    await server.prepareToFollow()
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
  /// - Returns: False when no server did, or not all of them.
  func take(_ batches: [EmbeddedLedger.PlacedBatch]) async -> Bool {
    guard let server = state.withLock({ $0.isBegun ? $0.server : nil }) else { return false }
    var rest = batches[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(Self.pieceLength(of: rest)))
      rest = rest.dropFirst(piece.count)
      guard await server.take(piece) else {
        state.withLock { $0.isBegun = false }
        return false
      }
    }
    return true
  }

  /// The most commits that a server is given at once, unless a batch has more: as many as clients
  /// of a leader have decided together.
  private static let pieceCommits = 256

  /// The number of batches that a server is given at once.
  private static func pieceLength(
    of batches: ArraySlice<EmbeddedLedger.PlacedBatch>
  ) -> Int {
    var commits = 0
    let count = batches.prefix { placed in
      commits += placed.batch.commits.count
      return commits <= pieceCommits
    }.count
    return max(1, count)
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

  package func tell(of service: @escaping @Sendable () -> NodeService?) {
    following.setService(service)
  }

  package func apply(_ batches: [EmbeddedLedger.PlacedBatch]) throws(LedgerError) {
    try openCopy().apply(batches)
  }

  package func catchUp() async throws(LedgerError) {
    do throws(NodeError) { try await readLog(isForServer: true) } catch { throw error.ledgerError }
    let other = state.withLock { $0.isFollowing ? nil : $0.reason }
    if let other { throw .unavailable(reason: other) }
  }
}
