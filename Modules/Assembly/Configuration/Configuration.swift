/// The parts to assemble and the setup of each: named sections of keys and values.
///
/// A configuration is a plain value. Making one checks only that its sections exist; the
/// ``Assembler`` lets each part read its section and checks the whole before anything opens.
public struct Configuration: Hashable, Sendable {
  /// The sections a configuration may have, in the order they are documented.
  public static let sectionNames = [
    "storage", "transport", "cache", "documents", "auth", "limits", "ledger", "endpoints",
    "log", "admin", "proxy", "shutdown",
  ]

  /// `kind`, and what the storage of that kind reads; `path` is the folder it keeps its files in.
  public var storage: ConfigurationValue
  /// `kind`, and what the transport of that kind reads; `host` and `port` say where it meets.
  public var transport: ConfigurationValue
  /// `limitBytes`: how much of the server's tree a client keeps on its device: at least 1,048,576,
  /// or -1 for everything.
  public var cache: ConfigurationValue
  /// The client's options for documents: `project` and `database` name theirs, `cacheLimitBytes`
  /// bounds the cache, like `limitBytes` of `cache`, and `createsIndexes` tells if expensive
  /// queries get indexes by themselves.
  public var documents: ConfigurationValue
  /// Of a server: the tokens it takes; see `AuthOptions`. `kind` selects another way of proving
  /// identity.
  public var auth: ConfigurationValue
  /// `requestsPerAddress`, `requestsPerIdentity`, `burstSeconds`, `bodyBytes`: how much clients may
  /// ask of a server, and send it at once; see `LimitOptions`.
  public var limits: ConfigurationValue
  /// `logLimit`, `logBytes`, `logAge`: the part of a server's log of commits that is kept; see
  /// `EmbeddedLedgerPlugin`. `kind` selects another ledger.
  public var ledger: ConfigurationValue
  /// Of a server: the options of its endpoints for foreign clients by their kinds, or `false` to
  /// leave one closed.
  public var endpoints: ConfigurationValue

  /// Of a server: `level`, `format` and `access` of its operator's log.
  public var log: ConfigurationValue = [:]
  /// Of a server: `host` and `port` of a listener for its operators alone.
  public var admin: ConfigurationValue = [:]
  /// Of a server: the `trusted` proxies, and whether they send the PROXY `protocol`.
  public var proxy: ConfigurationValue = [:]
  /// Of a server: `grace`, the seconds that it takes for its end.
  public var shutdown: ConfigurationValue = [:]

  /// SQLite in `./tern-data`, TCP on 127.0.0.1:9000, and the cache limits of the client.
  public static let standard = Configuration()

  /// Everything in memory, without a file or a port: a server and its clients in one process, for
  /// tests and demonstrations.
  public static let inMemory = Configuration(
    storage: ["kind": "memory"], transport: ["kind": "loopback"])

  /// Makes a configuration from its sections; an omitted one keeps its default.
  public init(
    storage: ConfigurationValue = ["kind": "sqlite", "path": "tern-data"],
    transport: ConfigurationValue = ["kind": "tcp", "host": "127.0.0.1", "port": 9000],
    cache: ConfigurationValue = [:], documents: ConfigurationValue = [:],
    auth: ConfigurationValue = [:], limits: ConfigurationValue = [:],
    ledger: ConfigurationValue = [:], endpoints: ConfigurationValue = [:]
  ) {
    self.storage = storage
    self.transport = transport
    self.cache = cache
    self.documents = documents
    self.auth = auth
    self.limits = limits
    self.ledger = ledger
    self.endpoints = endpoints
  }
}

extension Configuration {
  /// Sets one key of one section; what the section says elsewhere stays.
  ///
  /// - Parameters:
  ///   - value: The new value; values from the environment and from flags are
  ///     ``ConfigurationValue/text(_:)``.
  ///   - origin: Who asks, for the error: a file, a variable, a flag.
  /// - Throws: ``ConfigurationError/unknownSection(_:known:origin:)``.
  public mutating func set(
    _ value: ConfigurationValue, for key: String, in section: String, origin: String
  ) throws(ConfigurationError) {
    switch section {
    case "storage": storage = merged(storage, key, value)
    case "transport": transport = merged(transport, key, value)
    case "cache": cache = merged(cache, key, value)
    case "documents": documents = merged(documents, key, value)
    case "auth": auth = merged(auth, key, value)
    case "limits": limits = merged(limits, key, value)
    case "ledger": ledger = merged(ledger, key, value)
    case "endpoints": endpoints = merged(endpoints, key, value)
    case "log": log = merged(log, key, value)
    case "admin": admin = merged(admin, key, value)
    case "proxy": proxy = merged(proxy, key, value)
    case "shutdown": shutdown = merged(shutdown, key, value)
    default:
      throw .unknownSection(section, known: Self.sectionNames, origin: origin)
    }
  }

  private func merged(
    _ section: ConfigurationValue, _ key: String, _ value: ConfigurationValue
  ) -> ConfigurationValue {
    var members = section.members
    members[key] = value
    return .object(members)
  }
}
