import TernCore
import TernDocumentAuthority
import TernDocumentWire
import TernStorage

/// The documents of a server, as far as they live in memory.
///
/// It is a class because services and calls share it. It lives and is used inside the machine only.
///
/// Invariants: a call is in `streams` exactly while its `stream` is set. A database that any call
/// is about stays in memory, because its watch exists only there; an unused one may be forgotten at
/// any time and read again.
final class DatabaseRegistry {
  private var databases: [DocumentDatabase: OpenDatabase] = [:]
  /// The number of databases in memory at which unused ones are forgotten.
  private var forgettingCount = DatabaseRegistry.databasesKept
  /// The listen streams by the number that a database's watch knows them by.
  private(set) var streams: [Int: DocumentCall] = [:]
  /// The number of the latest listen stream.
  ///
  /// Numbers are never used again, so that a late message cannot reach another call.
  private var nextStream = 0
  /// Judges by the rules that are in force.
  var judge: DocumentJudge
  /// False while listens wait to be judged by other rules.
  var isReviewed = true
  /// The number of times that other rules came into force.
  ///
  /// Queries under way compare it with the generation that allowed them.
  private(set) var rulesGeneration: UInt64 = 0
  /// The listens that were told something since the last snapshots, in order.
  private var pending: [PendingSnapshot] = []
  /// Those of them who are told together, each once.
  ///
  /// A group that several commits of a batch change gets one snapshot.
  private var isPending: Set<ObjectIdentifier> = []
  /// The databases that keep encoded snapshots of this batch.
  private var keepsBodies: [OpenDatabase] = []
  /// Counts the rounds of snapshots.
  private var round: UInt64 = 0

  private var lastSweep: Int64 = 0
  /// The databases whose turn in this round is still to come.
  private var unswept: ArraySlice<DocumentDatabase> = []
  /// The number of them that are swept together.
  private var sweepCount = 0

  /// The interval of sweeping steps, in milliseconds: every 5 seconds.
  private static let sweepPause: Int64 = 5_000

  /// In how many goes every database has its turn: in a minute.
  private static let sweepsPerRound = 12

  /// The most databases kept in memory without a call about them.
  static let databasesKept = 256

  /// Without databases.
  init(_ judge: DocumentJudge) { self.judge = judge }

  /// The databases in memory that calls are about, by name.
  var used: [OpenDatabase] {
    databases.values.filter(\.isUsed).sorted { $0.name.resourceName < $1.name.resourceName }
  }

  /// The number of databases in memory.
  var databaseCount: Int { databases.count }

  /// The database of that name, if it is in memory.
  func known(_ name: DocumentDatabase) -> OpenDatabase? { databases[name] }

  /// The database of that name.
  func database(
    _ name: DocumentDatabase, in reader: any StoreReader
  ) throws(StorageError) -> OpenDatabase {
    if let database = databases[name] { return database }
    if databases.count >= forgettingCount { forgetUnused() }
    let database = try OpenDatabase(name, in: reader)
    databases[name] = database
    return database
  }

  /// The database of that name, for a call about it. One that nothing uses yet is charged to the
  /// call's client, for as long as anything does.
  ///
  /// - Returns: `nil` when the client's share of memory does not allow it.
  func database(
    _ name: DocumentDatabase, for call: DocumentCall, in reader: any StoreReader
  ) throws(StorageError) -> OpenDatabase? {
    if let database = databases[name], database.charge != nil { return database }
    let charge = call.anotherCharge()
    guard charge.add(Self.bytes(of: name)) else { return nil }
    let database = try self.database(name, in: reader)
    database.charge = charge
    return database
  }

  /// The memory of a database that nothing is stored in.
  static func bytes(of name: DocumentDatabase) -> Int {
    emptyBytes + 4 * name.resourceName.utf8.count
  }

  /// The bytes of its tables beside those of its name.
  private static let emptyBytes = 4_096

  /// Forgets the databases that are not used. The next time is when there are twice as many as
  /// stay, so that looking for them costs constant time a database.
  private func forgetUnused() {
    databases = databases.filter { $0.value.isUsed }
    forgettingCount = max(Self.databasesKept, 2 * databases.count)
  }

  /// The databases whose turn it is to be swept; none when it is not yet time.
  ///
  /// A round takes a twelfth of them each time, in the order of their names at its beginning; those
  /// that come meanwhile have their turn in the next one.
  func nextSweeps(uptime: Int64) -> [OpenDatabase] {
    guard uptime - lastSweep >= DatabaseRegistry.sweepPause, !databases.isEmpty else { return [] }
    lastSweep = uptime
    if unswept.isEmpty {
      let named = databases.keys.map { (name: $0, text: $0.resourceName) }
      unswept = named.sorted { $0.text < $1.text }.map(\.name)[...]
      let rounds = DatabaseRegistry.sweepsPerRound
      sweepCount = (unswept.count + rounds - 1) / rounds
    }
    let next = unswept.prefix(sweepCount)
    unswept = unswept.dropFirst(next.count)
    return next.compactMap { databases[$0] }
  }

  /// Forgets transactions that took too long.
  ///
  /// Called with every tick; linear in the databases in memory.
  func expire(uptime: Int64) {
    for database in databases.values {
      database.transactions.expire(uptime: uptime)
      database.releaseUnused()
    }
  }

  /// Records that other rules are in force: what was judged before is to be judged again.
  func noteOtherRules(_ judge: DocumentJudge) {
    self.judge = judge
    isReviewed = false
    rulesGeneration += 1
  }

  /// The number by which a listen call is told.
  func open(_ call: DocumentCall) -> Int {
    nextStream += 1
    streams[nextStream] = call
    return nextStream
  }

  /// Ends a call from this side.
  func finish(_ call: DocumentCall, _ status: DocumentStatus?, _ batch: inout ServerBatch) {
    let frame = DocumentServerFrame.end(stream: call.number, status)
    batch.add(.send(slot: call.slot, frame.encode()))
    close(call)
  }

  /// Forgets a call and what it watches.
  ///
  /// A transaction that the call has begun without telling its client is rolled back, as no client
  /// could end it.
  func close(_ call: DocumentCall) {
    guard call.link.calls.removeValue(forKey: call.number) != nil else { return }
    if !call.untold.isEmpty { _ = call.database?.transactions.rollback(call.untold) }
    call.database?.callCount -= 1
    call.cancelReadings()
    defer { call.database?.releaseUnused() }
    guard let stream = call.stream else { return }
    call.database?.closeStream(stream)
    streams[stream] = nil
    call.stream = nil
  }

  /// Records that a database keeps encoded snapshots, until the batch ends.
  func noteBodies(of database: OpenDatabase) { keepsBodies.append(database) }

  /// Notes that a stream is told something, so that a snapshot has to follow.
  func emit(_ stream: Int) { pending.append(.stream(stream)) }

  /// Records that all listens to one thing are told something.
  func emit(_ addresses: WatchAddresses, of group: WatchGroup, in database: OpenDatabase) {
    if isPending.insert(ObjectIdentifier(addresses)).inserted {
      pending.append(.group(group, addresses, database))
    }
  }

  /// Those that a snapshot is owed to, who no longer are, and the number of the round.
  ///
  /// Ends the round: encoded bodies are dropped, because the next batch may read a newer state.
  func takePendingSnapshots() -> (pending: [PendingSnapshot], round: UInt64) {
    for database in exchange(&keepsBodies, with: []) { database.bodies = [:] }
    defer {
      pending = []
      isPending.removeAll(keepingCapacity: true)
    }
    round += 1
    return (pending, round)
  }
}

/// A listener that has received changes and still needs the closing snapshot.
enum PendingSnapshot {
  /// A listen stream.
  case stream(Int)
  /// All who watched one thing when they were told.
  case group(WatchGroup, WatchAddresses, OpenDatabase)
}
