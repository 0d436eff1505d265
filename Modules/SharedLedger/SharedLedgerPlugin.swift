public import TernCommitLog
public import TernLedger
public import TernStorage

/// Opens commit logs by their address, for the ledger of a configuration.
public protocol CommitLogPlugin: SendableMetatype {
  /// The version of the program, which its nodes tell operators. Default: empty.
  static var programVersion: String { get }

  /// Opens the log at an address such as `postgres://host/database`.
  ///
  /// - Throws: ``TernCommitLog/CommitLogError``: transient errors are no reason to fail, the node
  ///   tries again.
  static func open(
    _ address: String, with resources: LedgerResources
  ) async throws(CommitLogError) -> any CommitLog
}

extension CommitLogPlugin {
  public static var programVersion: String { "" }
}

/// Opens a ``SharedLedger`` over a log of one kind and the server's store, for
/// `{"kind": "shared", "log": "postgres://host/database"}`.
public enum SharedLedgerPlugin<Log: CommitLogPlugin>: LedgerPlugin {
  /// The log, the shard, and the node's part in it.
  public struct Options: Sendable {
    /// The address of the log.
    public var log: String
    /// The shard in it. Default 0.
    public var shard: UInt32 = 0
    /// The address at which clients reach this node, for other nodes to tell; may be empty.
    public var address = ""
    /// The seconds after which the lease of a leader that is gone is taken over, 1...60. Default 3.
    public var leaseSeconds = 3
    /// The file with the secret of the cluster, by which nodes relay clients to the one that leads;
    /// `nil` for nodes that refuse clients while they stand by. The program reads it.
    public var secretFile: String?
    /// The service of clients at nodes with a secret that do not lead. Default ``Followers/serve``.
    public var followers = Followers.serve
    /// The shards that databases belong to, for several logs side by side: the shard's number, and
    /// the names of its databases. Default: all to shard 0.
    public var shards = ShardTable()
    /// The limits of the copy's log.
    public var ledger = LedgerOptions()

    /// The service of clients at a node that does not lead.
    public enum Followers: String, Decodable, Sendable {
      /// Reads and listens from the node's copy; the rest goes to the leader.
      case serve
      /// The bytes of their connections go to the leader.
      case relay
    }
  }

  public static var kind: String { "shared" }

  /// The log has what a loss of power takes from the copy, which then goes on behind what is left.
  public static var storeDurability: Durability { .relaxed }

  public static func open(
    _ options: Options, with resources: LedgerResources
  ) async throws(LedgerError) -> any Ledger {
    let log: any CommitLog
    do throws(CommitLogError) {
      log = try await Log.open(options.log, with: resources)
    } catch {
      throw .unavailable(reason: error.description)
    }
    let store: any OrderedStore
    do throws(StorageError) { store = try await resources.openStore() } catch {
      await log.close()
      throw .storage(error)
    }
    var node = options.node(resources.randomBits())
    node.version = Log.programVersion
    node.ledger.bound(byStoreLimit: resources.storeLimitBytes)
    let ledger = SharedLedger(
      log: log, store: store, options: node,
      environment: NodeEnvironment(
        clock: resources.clock, uptime: resources.uptime, randomBits: resources.randomBits,
        time: resources.time))
    resources.whenClosed { await ledger.close() }
    ledger.start()
    return ledger
  }
}

extension SharedLedgerPlugin.Options: Decodable {
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case log, shard, address, leaseSeconds, secretFile, followers, shards, logLimit, logBytes,
      logAge
  }

  /// Reads the section; what it leaves out keeps its standard value.
  public init(from decoder: any Decoder) throws {
    let section = try decoder.container(keyedBy: CodingKeys.self)
    log = try section.decode(String.self, forKey: .log)
    shard = try section.decodeIfPresent(UInt32.self, forKey: .shard) ?? shard
    address = try section.decodeIfPresent(String.self, forKey: .address) ?? address
    leaseSeconds = try section.decodeIfPresent(Int.self, forKey: .leaseSeconds) ?? leaseSeconds
    guard (1...60).contains(leaseSeconds) else {
      throw DecodingError.dataCorruptedError(
        forKey: .leaseSeconds, in: section, debugDescription: "\(leaseSeconds) is not in 1...60")
    }
    secretFile = try section.decodeIfPresent(String.self, forKey: .secretFile)
    followers = try section.decodeIfPresent(Followers.self, forKey: .followers) ?? followers
    guard secretFile == nil || !address.isEmpty else {
      throw DecodingError.dataCorruptedError(
        forKey: .secretFile, in: section,
        debugDescription: "nodes reach each other by their addresses: give this one's, too")
    }
    guard address.utf8.count <= CommitLogLimits.addressBytes else {
      throw DecodingError.dataCorruptedError(
        forKey: .address, in: section,
        debugDescription: "longer than \(CommitLogLimits.addressBytes) bytes")
    }
    shards = try Self.shards(in: section)
    if !shards.isEmpty, secretFile == nil || followers == .relay {
      throw DecodingError.dataCorruptedError(
        forKey: .shards, in: section,
        debugDescription: "nodes of several shards pass requests on: give them a secretFile, and "
          + "followers that serve")
    }
    guard shards.isEmpty || shards.shards.contains(shard) else {
      throw DecodingError.dataCorruptedError(
        forKey: .shard, in: section, debugDescription: "no database belongs to shard \(shard)")
    }
    ledger = try EmbeddedLedgerPlugin.Options(from: decoder).ledger
  }

  private static func shards(
    in section: KeyedDecodingContainer<CodingKeys>
  ) throws -> ShardTable {
    let lists = try section.decodeIfPresent([String: [String]].self, forKey: .shards) ?? [:]
    var entries: [UInt32: [String]] = [:]
    for (text, names) in lists {
      guard let shard = UInt32(text), entries.updateValue(names, forKey: shard) == nil else {
        throw DecodingError.dataCorruptedError(
          forKey: .shards, in: section, debugDescription: "\"\(text)\" is no number of a shard")
      }
    }
    do throws(ShardTableError) { return try ShardTable(entries) } catch {
      throw DecodingError.dataCorruptedError(
        forKey: .shards, in: section, debugDescription: error.description)
    }
  }

  /// - Parameter bits: Drawn at random for this run.
  func node(_ bits: UInt64) -> SharedLedgerOptions {
    let run = String(bits, radix: 16)
    let name = "\(String(decoding: address.utf8.prefix(64), as: UTF8.self))#\(run)"
    var options = SharedLedgerOptions(shard: ShardID(shard), node: name, address: address)
    options.leaseLifetime = .seconds(leaseSeconds)
    options.renewal = options.leaseLifetime / 3
    options.lookInterval = options.leaseLifetime / 6
    options.ledger = ledger
    options.shards = shards
    return options
  }
}
