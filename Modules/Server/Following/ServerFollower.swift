import TernLedger

/// Lets a server serve from its node's copy while another node leads.
///
/// The ledger calls it, in this order: ``prepareToFollow()``, ``beginFollowing()``, ``take(_:)``
/// any number of times, ``endFollowing(_:)``. It refers to the server weakly, so that the ledger
/// does not keep a stopped server alive.
final class ServerFollower: CopyServer {
  private weak let server: TernServer?
  private let ledger: any FollowedLedger

  init(_ server: TernServer, _ ledger: any FollowedLedger) {
    self.server = server
    self.ledger = ledger
  }

  var isFollowing: Bool {
    get async {
      guard let server else { return false }
      return await Self.isFollowing(server)
    }
  }

  func prepareToFollow() async {
    guard let server else { return }
    await Self.prepare(server)
  }

  private static func isFollowing(_ server: isolated TernServer) -> Bool { server.part.copy != nil }

  /// Ends what was served in a term that has just ended, or from another copy.
  private static func prepare(_ server: isolated TernServer) async {
    ServerTerms.standBy("another node leads", returning: true, at: server)
    await ServerTerms.waitForBatch(at: server)
  }

  func beginFollowing() async -> Bool {
    guard let server else { return false }
    return await Self.begin(ledger, at: server)
  }

  /// Passes batches of other nodes through the server.
  ///
  /// - Returns: Whether the copy may go on: true once the batches were told to listeners and
  ///   applied. A server that is stopping or leading answers false by dropping the batches.
  func take(_ batches: [EmbeddedLedger.PlacedBatch]) async -> Bool {
    await withCheckedContinuation { continuation in
      let batches = FollowedBatches(batches, answer: continuation)
      guard let server else { return }
      Task { await Self.take(batches, at: server) }
    }
  }

  func endFollowing(_ reason: String) async {
    guard let server else { return }
    await Self.end(reason, at: server)
  }

  private static func take(_ batches: FollowedBatches, at server: isolated TernServer) {
    guard server.part.copy != nil, server.refusal == nil else { return }
    server.inbox.append(.followed(batches))
    server.drainSoon()
  }

  private static func end(_ reason: String, at server: isolated TernServer) {
    if server.part.copy != nil { ServerTerms.standBy(reason, at: server) }
  }

  /// Reads what the server has to know of the copy, and lets clients in.
  ///
  /// The conditions are checked again after each suspension, since a stop or a change of the leader
  /// may come in between.
  ///
  /// - Returns: False when the server cannot follow now.
  private static func begin(
    _ ledger: any FollowedLedger, at server: isolated TernServer
  ) async -> Bool {
    await ServerTerms.takeMachine(of: server)
    defer { server.part.isMachineTaken = false }
    guard server.end == nil, !ledger.standing.isLeading else { return false }
    await prepare(server)
    guard server.end == nil, !ledger.standing.isLeading else { return false }
    server.batches.beginAnew(following: ledger)
    do throws(LedgerError) { try await server.batches.restore() } catch { return false }
    guard server.end == nil else { return false }
    server.part.begin(ledger, at: server)
    server.standby = nil
    server.report(.following)
    server.drainSoon()
    return true
  }
}
