public import TernStorage

/// The sessions that left writes for the moment they end, and those writes, in memory and as rows.
///
/// Writes and owners are opaque bytes here. Every change comes with the rows that make it durable;
/// the caller stores them together with the commit that the change is part of.
public struct DisconnectOperations: Sendable {
  /// The onDisconnect operations that a session left behind.
  public struct PendingDisconnects: Hashable, Sendable {
    /// The identity of the session, as its server describes it.
    public var owner: [UInt8]
    /// The deferred writes in order of registration.
    public private(set) var writes: [[UInt8]] = []
    /// The bytes of ``writes`` together.
    public private(set) var byteCount = 0
    /// Since when the session is without a connection; `nil` while it has one.
    var orphanedAt: Int64?

    init(owner: [UInt8]) { self.owner = owner }

    mutating func append(_ write: [UInt8]) {
      writes.append(write)
      byteCount += write.count
    }

    mutating func replaceWrites(with writes: [[UInt8]]) {
      self.writes = writes
      byteCount = writes.reduce(0) { $0 + $1.count }
    }
  }

  /// The reason an onDisconnect operation is not accepted.
  public enum Refusal: Error, Hashable, Sendable {
    /// The session registered as many operations as allowed.
    case tooManyWrites(limit: Int)
    /// The operations of the session, or of all sessions, take as many bytes as allowed.
    case tooManyBytes(limit: Int)
  }

  private let rows: PresenceRows
  /// The limits in force.
  public let limits: PresenceLimits
  private var estates: [UInt128: PendingDisconnects] = [:]
  /// The bytes of the operations of all sessions.
  private var byteCount = 0

  /// An empty book.
  public init(rows: PresenceRows, limits: PresenceLimits) {
    self.rows = rows
    self.limits = limits
  }

  /// Takes up the sessions of the run before: all of them have been without a connection since
  /// `now`, in milliseconds.
  public mutating func restore(
    from view: borrowing some StoreView & ~Copyable & ~Escapable, now: Int64
  ) throws(StorageError) {
    estates = try rows.read(from: view)
    for session in estates.keys { estates[session]?.orphanedAt = now }
    byteCount = estates.values.reduce(0) { $0 + $1.byteCount }
  }

  /// Returns true when the session registered operations.
  public func hasWrites(_ session: UInt128) -> Bool { estates[session] != nil }

  /// Returns the operations that the session registered so far.
  public func estate(of session: UInt128) -> PendingDisconnects? { estates[session] }

  /// Adds a deferred write; returns the rows to store.
  ///
  /// - Parameter isCancellation: True for one that only takes back. Such ones may double what the
  ///   limits allow, so that a session at its limits can still take back what it left.
  /// - Complexity: O(bytes of the write), whatever the session left before.
  public mutating func append(
    _ write: [UInt8], of session: UInt128, owner: [UInt8], isCancellation: Bool = false
  ) throws(Refusal) -> [Row] {
    // No copy of the estate: the writes in it would be copied with the next one.
    let (count, bytes) = estates[session].map { ($0.writes.count, $0.byteCount) } ?? (0, 0)
    let share = isCancellation ? 2 : 1
    guard count < share * limits.deferredWrites else {
      throw .tooManyWrites(limit: limits.deferredWrites)
    }
    guard bytes + write.count <= share * limits.deferredBytes else {
      throw .tooManyBytes(limit: limits.deferredBytes)
    }
    guard isCancellation || byteCount + write.count <= limits.deferredBytesInAll else {
      throw .tooManyBytes(limit: limits.deferredBytesInAll)
    }
    // One row each, whatever the limit of them all.
    let longest = StorageLimits.valueBytes
    guard write.count <= longest, owner.count <= longest else {
      throw .tooManyBytes(limit: longest)
    }
    var added = [rows.write(of: session, number: count, write)]
    if estates[session] == nil { added.insert(rows.owner(of: session, owner), at: 0) }
    estates[session, default: PendingDisconnects(owner: owner)].append(write)
    byteCount += write.count
    return added
  }

  /// Puts `writes` in the place of all a session left, which they sum up.
  ///
  /// - Returns: The range of rows to remove, then the rows to store; `nil` for an unknown session.
  public mutating func replace(
    _ writes: [[UInt8]], of session: UInt128
  ) -> (removed: KeyRange, rows: [Row])? {
    guard let before = estates[session]?.byteCount else { return nil }
    estates[session]?.replaceWrites(with: writes)
    byteCount += (estates[session]?.byteCount ?? 0) - before
    let added = writes.indices.map { rows.write(of: session, number: $0, writes[$0]) }
    return (rows.writes(of: session), added)
  }

  /// Ends a session: hands over what it left, and the range of rows that goes with it.
  ///
  /// The estate is gone from the book, so that it cannot be handed over twice.
  public mutating func end(_ session: UInt128) -> (estate: PendingDisconnects, rows: KeyRange)? {
    guard let estate = estates.removeValue(forKey: session) else { return nil }
    byteCount -= estate.byteCount
    return (estate, rows.range(of: session))
  }

  /// The sessions without a connection whose grace is over at `now`, in order of their ids.
  public func due(at now: Int64) -> [UInt128] {
    estates.filter { $0.value.orphanedAt.map { $0 + grace <= now } ?? false }.keys.sorted()
  }

  /// The time at which the next session without a connection is due; `nil` when there is none.
  public var nextDue: Int64? {
    estates.values.compactMap { $0.orphanedAt.map { $0 + grace } }.min()
  }

  private var grace: Int64 {
    limits.grace.components.seconds * 1_000
      + limits.grace.components.attoseconds / 1_000_000_000_000_000
  }
}
