public import TernLedger
public import TernStorage
public import TernTransport

/// The reason a server could not start.
public enum ServerError: Error, Hashable, Sendable {
  /// The ledger could not be read.
  case ledger(LedgerError)
  /// The transport could not be listened at.
  case transport(TransportError)
  /// The server was stopped, or has given up on its ledger.
  case stopped
}

/// Something a server's operator may want to read about.
public enum ServerEvent: Hashable, Sendable {
  /// A client connected.
  case connected(peer: String)
  /// A client is gone; the reason may be the server's or the client's.
  case disconnected(peer: String, reason: SessionEnd)
  /// The ledger failed. All clients were disconnected; nothing of their last batch was answered.
  /// The server goes on if the ledger can be read again.
  case failed(LedgerError)
  /// The server has ended, because its ledger cannot be read again or contradicts itself. It
  /// accepts no requests any more. End the program, so that its supervisor starts it anew.
  case ended(LedgerError)
  /// The server serves no clients, because another node leads or the shared log cannot be reached;
  /// the text says which. Sessions were ended; they go on at the leader.
  case standingBy(String)
  /// This node leads and serves clients.
  case leading
  /// Another node leads, and clients are served here from this node's copy.
  case following
  /// This node leads, and does not get on with what is its duty besides commits, for the reason in
  /// the text. Told again on every tick while it lasts.
  case hindered(String)
  /// The disk is full. What clients write is refused, as something to try again later, but for what
  /// only removes; reads and listens go on. Told once, until ``diskHasRoom``.
  case diskFull
  /// The disk has room again, and the server takes everything.
  case diskHasRoom
  /// The scrub found bytes in the store that fail their check. Requests that meet them are denied,
  /// all others go on.
  case corrupt(StoreCorruption)
  /// The store has an earlier format whose bytes are checked less. Stop the server and compact the
  /// store (``TernServer/compact(_:keepingLog:)``) to bring it up to date.
  case oldFormat
  /// Rules that were stored are invalid under the limits of this version: they deny everything to
  /// all but administrators until others are deployed. Told at every start.
  case unusableRules(database: String, problem: String)
  /// A backup was ended before it was whole; its reader sees that its bytes stop.
  case backupEnded(BackupEnd)
}

extension ServerEvent {
  /// True when writes without an acknowledgement may be stored nevertheless: after a failed sync
  /// the disk alone knows.
  public var mayHaveStored: Bool {
    guard case .failed(let error) = self else { return false }
    switch error {
    case .storage(.syncFailed), .storage(.failed), .corrupt, .unavailable: return true
    default: return false
    }
  }
}
