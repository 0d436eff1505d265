public import TernPresence
public import TernQuery
import TernTransport

/// The options of a server.
public struct ServerOptions: Hashable, Sendable {
  /// The host clients are told to use for their next connections.
  public var host: String
  /// The tolerated absence of sessions, and the limits of their onDisconnect operations.
  public var presence: PresenceLimits
  /// The limits on each client of the server.
  public var limits: ServerLimits
  /// The notice that all clients get instead of service; `nil` to serve. Default: `nil`.
  public var farewell: ServiceNotice?
  /// The declared indexes of documents, without which queries are rejected as by the service; `nil`
  /// answers every query. Default: `nil`.
  public var requiredIndexes: DocumentIndexCatalogs?
  /// The mistake that the server makes on purpose; `nil` outside of tests of tests.
  package var plantedFault: PlantedServerFault?

  /// The defaults, but for what is given.
  public init(
    host: String = "localhost", presence: PresenceLimits = PresenceLimits(),
    limits: ServerLimits = ServerLimits(), farewell: ServiceNotice? = nil
  ) {
    self.farewell = farewell
    self.host = host
    self.presence = presence
    self.limits = limits
  }
}

/// The reason a server accepts no requests. Source: realtime reference, sections 10.4 and 11.3.
public enum ServiceNotice: Hashable, Sendable {
  /// The databases are at another host, such as `db2.example.com:9000`, where clients go at once.
  case moved(host: String)
  /// The databases are closed; clients do not come back until they are started again.
  case closed(reason: String)
}

/// The limits on one client of a server.
public struct ServerLimits: Hashable, Sendable {
  /// The most frames decided together. More share a sync; fewer let the answers to the first ones
  /// go out, and their clients go on, while the others are decided. Default 256.
  public var batchFrames: Int
  /// The bytes of frames behind which no further one is decided in the same batch, and the bytes of
  /// answers behind which further requests wait for the next batch. Default 16 MiB.
  public var batchBytes: Int
  /// A link with more bytes waiting to be decided is not read from until they are; for a node of a
  /// cluster ``leastSharedInboxBytes`` or more. Default 8 MiB.
  public var inboxBytes: Int
  /// A link with more bytes waiting to be sent is closed: its client is too slow for what it
  /// listens to. Default 128 MiB.
  public var queuedBytes: Int
  /// The most memory that all clients together may make the server hold: requests while they arrive
  /// and are parsed, answers and pushes that wait to be sent, connections. Clients that would take
  /// more are read from later, refused, or closed, those that hold most first. Default 1 GiB.
  public var memoryBytes: Int
  /// The part of ``memoryBytes`` that one address may take; `nil` for a quarter. Default `nil`.
  public var memoryBytesPerAddress: Int?
  /// The part of ``memoryBytes`` that one user may take, over all addresses; `nil` for a quarter.
  /// Default `nil`.
  public var memoryBytesPerIdentity: Int?
  /// The time that a client above its share is not read from before it is closed, in milliseconds.
  /// Default 5,000.
  public var slowedMilliseconds: Int64 = 5_000
  /// The most bytes of one read's answer or one listen's first data; more is `too_big`. No more
  /// than what the transports carry in one frame. Default 64 MiB less 64 KiB.
  public var answerBytes: Int
  /// The size in the store above which a read goes piece by piece, for clients that can take it so.
  /// Default 1 MiB.
  public var wholeReadBytes: Int
  /// The most such readings at once; each keeps a thread and a snapshot of the store. Default 16.
  public var exports: Int
  /// After so many milliseconds in which nothing was taken of what is sent, such a reading gives
  /// its place to another one when there is none left. Default 2,000.
  public var exportStallMilliseconds: Int64 = 2_000
  /// The longest time of such a reading, in milliseconds: its snapshot keeps what is overwritten
  /// and deleted meanwhile on the disk. Its client may begin again. Default 300,000.
  public var exportMilliseconds: Int64 = 300_000
  /// The most reads, of trees and of documents, that go on beside the server's executor at once,
  /// each on a thread: those of more than 256 rows. Others wait for their turn. Default 2.
  public var reads: Int = 2
  /// The most backups at once, among the exports. Default 2.
  public var backups: Int = 2
  /// The longest time of a backup, in milliseconds: its snapshot keeps what is overwritten and
  /// deleted meanwhile on the disk. Default 2 hours.
  public var backupMilliseconds: Int64 = 7_200_000
  /// The time without progress after which a backup ends, in milliseconds. Default 60,000.
  public var backupStallMilliseconds: Int64 = 60_000
  /// The bytes by which the store's files may grow during a backup or another reading piece by
  /// piece before it is ended; `nil` for as many as the files had at its beginning, and
  /// ``leastBackupGrowth`` at least. Default `nil`.
  public var backupGrowthBytes: Int?
  /// The growth of a small store that no backup is ended for, in bytes.
  public static let leastBackupGrowth = 4 << 30

  /// The least ``inboxBytes`` of a node that passes calls on to others: twice what may wait for the
  /// message that tells where a call belongs.
  public static let leastSharedInboxBytes = 2 * ForwardedCallLimits.heldBytes

  /// Returns the bytes by which a store may grow during a backup.
  ///
  /// - Parameter storeBytes: The bytes of its files at the beginning.
  func backupGrowth(of storeBytes: Int) -> Int {
    backupGrowthBytes ?? max(Self.leastBackupGrowth, storeBytes)
  }
  /// The request rates of one address and one identity. Default: any amount.
  public var rates: RateLimits
  /// The most listens of one session, or targets of one link about documents. Default 100,000.
  public var listens: Int
  /// The most batches in a row that the ledger may answer otherwise than it has to. After each of
  /// them all clients are let go and the state is read again; after more the server ends. Default
  /// 3.
  public var contradictions: Int
  /// The most bytes in the name of a database, at most 256. Default 128.
  public var namespaceBytes: Int
  /// The databases that clients may use: names of trees, and `projects/P/databases/D` for
  /// documents; `nil` for any. Default `nil`.
  public var databases: [String]?
  /// The most requests without a session that wait to be decided. Default 4,096.
  public var directRequests: Int

  /// The most calls about documents that one link carries at once. Default 1,000.
  public var documentCalls: Int

  /// Returns true when clients may use the database of that name.
  func allows(database name: String) -> Bool {
    guard let databases else { return true }
    return databases.contains { $0.utf8.elementsEqual(name.utf8) }
  }

  /// The budget that these limits describe.
  var budget: MemoryBudget {
    MemoryBudget(
      limitBytes: memoryBytes, addressBytes: memoryBytesPerAddress,
      identityBytes: memoryBytesPerIdentity)
  }

  /// Returns the most bytes of rows that are read at once: those of an answer, as far as the memory
  /// for all clients allows.
  func readBytes(within memoryBytes: Int) -> Int {
    min(2 * answerBytes, max(8 << 20, memoryBytes / 8))
  }

  /// The defaults, but for what is given.
  public init(
    memoryBytes: Int = 1 << 30, memoryBytesPerAddress: Int? = nil,
    memoryBytesPerIdentity: Int? = nil, batchFrames: Int = 256, batchBytes: Int = 16 << 20,
    inboxBytes: Int = 8 << 20,
    queuedBytes: Int = 128 << 20,
    answerBytes: Int = (64 << 20) - (64 << 10), wholeReadBytes: Int = 1 << 20, exports: Int = 16,
    rates: RateLimits = RateLimits(), listens: Int = 100_000, contradictions: Int = 3,
    namespaceBytes: Int = 128, directRequests: Int = 4_096, documentCalls: Int = 1_000
  ) {
    precondition(namespaceBytes <= 256, "longer names leave too little room for paths")
    self.memoryBytes = memoryBytes
    self.memoryBytesPerAddress = memoryBytesPerAddress
    self.memoryBytesPerIdentity = memoryBytesPerIdentity
    self.batchFrames = batchFrames
    self.batchBytes = batchBytes
    self.inboxBytes = inboxBytes
    self.queuedBytes = queuedBytes
    self.answerBytes = answerBytes
    self.wholeReadBytes = wholeReadBytes
    self.exports = exports
    self.rates = rates
    self.listens = listens
    self.contradictions = contradictions
    self.namespaceBytes = namespaceBytes
    self.directRequests = directRequests
    self.documentCalls = documentCalls
  }
}
