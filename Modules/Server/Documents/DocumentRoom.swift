import TernCore
import TernDocumentEngine
import TernDocumentWire
import TernStorage

/// One database of documents: what is stored, and who watches it.
final class DocumentRoom {
  let names: DocumentNames
  let authority: DocumentAuthority
  let watch: DocumentWatch
  /// The time by which the database is read.
  private var clock = DocumentClock()
  var transactions = DocumentTransactions()
  /// How many calls are about it. While there are any there is one room of the database: what is
  /// written in one is told to those who watch in it.
  var callCount = 0
  /// Bodies that were encoded in this batch, for the next who begins to watch the same.
  var bodies: [WatchBodyID: [DocumentPush]] = [:]
  /// Where sweeping goes on; 0 at the beginning.
  var sweptTo: UInt32 = 0

  var database: DocumentDatabase { authority.rows.database }

  init(_ database: DocumentDatabase, in reader: any StoreReader) throws(StorageError) {
    names = DocumentNames(database)
    authority = DocumentAuthority(
      rows: DocumentRows(prefix: StoreLayout.documents(database), database: database))
    watch = DocumentWatch(authority)
    clock.note(try authority.lastVersion(in: reader))
  }

  /// Whether somebody still relies on what of it is in memory alone.
  var isUsed: Bool { callCount > 0 || transactions.count > 0 }

  /// The time of a reading: as of then everything committed is seen.
  var readTime: DocumentVersion { clock.reading }

  /// Takes note of a commit.
  func note(_ version: DocumentVersion) { clock.note(version) }
}

/// The documents of a server, as far as they live in memory.
final class DocumentDesk {
  private var rooms: [DocumentDatabase: DocumentRoom] = [:]
  /// The listen streams by the number that a room's watch knows them by.
  private(set) var streams: [Int: DocumentCall] = [:]
  private var nextStream = 0
  /// Who was told something since the last snapshots, in order.
  private var owed: [SnapshotDebt] = []
  /// Those of them who are told together, each once.
  private var isOwed: Set<ObjectIdentifier> = []
  /// Counts the rounds of snapshots.
  private var round: UInt64 = 0

  private var lastSweep: Int64 = 0
  private var sweepTurn = 0

  /// How often a little is swept, in milliseconds: every 5 seconds.
  private static let sweepPause: Int64 = 5_000

  /// In how many goes every database has its turn: in a minute.
  private static let sweepsPerRound = 12

  /// The most databases kept in memory that nobody uses.
  static let roomsKept = 256

  /// How many databases are in memory.
  var roomCount: Int { rooms.count }

  /// The database of that name.
  func room(
    _ database: DocumentDatabase, in reader: any StoreReader
  ) throws(StorageError) -> DocumentRoom {
    if let room = rooms[database] { return room }
    if rooms.count >= DocumentDesk.roomsKept {
      rooms = rooms.filter { $0.value.isUsed }
    }
    let room = try DocumentRoom(database, in: reader)
    rooms[database] = room
    return room
  }

  /// The databases whose turn it is to be swept; none when it is not yet time.
  func nextSweeps(uptime: Int64) -> [DocumentRoom] {
    guard uptime - lastSweep >= DocumentDesk.sweepPause, !rooms.isEmpty else { return [] }
    lastSweep = uptime
    let ordered = rooms.values.sorted { $0.database.resourceName < $1.database.resourceName }
    let count = (ordered.count + DocumentDesk.sweepsPerRound - 1) / DocumentDesk.sweepsPerRound
    defer { sweepTurn += count }
    return (0..<count).map { ordered[(sweepTurn + $0) % ordered.count] }
  }

  /// Forgets transactions that took too long.
  func expire(uptime: Int64) {
    for room in rooms.values { room.transactions.expire(uptime: uptime) }
  }

  /// The number by which a listen call is told.
  func open(_ call: DocumentCall) -> Int {
    nextStream += 1
    streams[nextStream] = call
    return nextStream
  }

  func close(_ stream: Int) { streams[stream] = nil }

  /// Notes that a stream is told something, so that a snapshot has to follow.
  func owe(_ stream: Int) { owed.append(.stream(stream)) }

  /// Notes that everybody who watches one thing is told something.
  func owe(_ addresses: WatchAddresses, of group: WatchGroup, in room: DocumentRoom) {
    if isOwed.insert(ObjectIdentifier(addresses)).inserted {
      owed.append(.group(group, addresses, room))
    }
  }

  /// Those that a snapshot is owed to, who no longer are, and the number of the round.
  func takeOwed() -> (owed: [SnapshotDebt], round: UInt64) {
    defer {
      owed = []
      isOwed.removeAll(keepingCapacity: true)
    }
    round += 1
    return (owed, round)
  }
}

/// Somebody who was told something, and is owed a snapshot as of when it holds.
enum SnapshotDebt {
  /// A listen stream.
  case stream(Int)
  /// All who watched one thing when they were told.
  case group(WatchGroup, WatchAddresses, DocumentRoom)
}
