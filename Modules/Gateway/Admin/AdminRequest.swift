/// A request of an operator, below `/-/`. Source: Docs/Formats/admin.md.
enum AdminRequest: Equatable, Sendable {
  /// Does the server answer at all?
  case health
  /// Is it ready for clients?
  case readiness
  /// `GET /-/metrics`: the figures in the text form of Prometheus.
  case metrics
  /// `GET /-/status`: the figures in JSON, with at most so many connections.
  case status(connections: Int)
  /// `GET /-/connections`: at most so many connections.
  case connections(Int)
  /// `DELETE /-/connections/ID`.
  case closeConnection(String)
  /// `GET /-/databases`; sizes are left out with `sizes=false`, because measuring them takes a
  /// read of the store.
  case databases(sizes: Bool)
  /// `DELETE /-/databases/NAME`; `isDocuments` for the parameter `model=documents`.
  case deleteDatabase(String, isDocuments: Bool)

  static let prefix = "/-/"

  /// Returns true for paths that are the operator's; those that end in `.json` are data.
  ///
  /// The console, rules and backups have endpoints of their own.
  ///
  /// A path below `/-/` that ends in `.json` or `/.upload` is that of data: `-` is a valid key
  /// of a tree.
  static func serves(_ path: String) -> Bool {
    path.hasPrefix(prefix) && !path.hasSuffix(RESTRequest.suffix)
      && !path.hasSuffix(RESTUpload.suffix) && !ConsolePage.serves(path)
      && !RulesEndpoint.serves(path) && !BackupRequest.serves(path)
  }

  /// The same for a target with its query.
  static func serves(rawTarget target: String) -> Bool {
    target.hasPrefix(prefix) && serves(String(target.prefix { $0 != "?" }))
  }

  /// Understands a request.
  ///
  /// - Throws: 404 for a path that is not served, 405 with the allowed methods for another
  ///   method, 400 for a parameter.
  init(_ method: String, _ target: RequestTarget) throws(RESTError) {
    guard Self.serves(target.path) else {
      throw RESTError(404, "Only paths below /-/ are served here.")
    }
    let name = String(target.path.dropFirst(Self.prefix.count))
    let isRead = method == "GET" || method == "HEAD"
    switch name {
    case "healthz" where isRead: self = .health
    case "readyz" where isRead: self = .readiness
    case "metrics" where isRead: self = .metrics
    case "status" where isRead: self = .status(connections: try Self.count(target))
    case "connections" where isRead: self = .connections(try Self.count(target))
    case "databases" where isRead: self = .databases(sizes: target["sizes"] != "false")
    case let name where name.hasPrefix("connections/"):
      guard method == "DELETE" else { throw Self.notAllowed(but: "DELETE") }
      self = .closeConnection(String(name.dropFirst("connections/".count)))
    case let name where name.hasPrefix("databases/"):
      guard method == "DELETE" else { throw Self.notAllowed(but: "DELETE") }
      let database = String(name.dropFirst("databases/".count))
      switch target["model"] {
      case nil, "tree": self = .deleteDatabase(database, isDocuments: false)
      case "documents": self = .deleteDatabase(database, isDocuments: true)
      default: throw .invalid("model is tree or documents.")
      }
    case "healthz", "readyz", "metrics", "status", "connections", "databases":
      throw Self.notAllowed(but: "GET, HEAD")
    default: throw RESTError(404, "There is no such page.")
    }
  }

  private static func notAllowed(but methods: String) -> RESTError {
    .notAllowed("This path does not take that method.", allowing: methods)
  }

  /// The most connections that are told.
  private static let mostConnections = 1_000

  /// Reads the parameter `connections`: 0...1,000, 100 if it is left out.
  private static func count(_ target: RequestTarget) throws(RESTError) -> Int {
    guard let text = target["connections"] else { return 100 }
    guard let count = Int(text), (0...mostConnections).contains(count) else {
      throw .invalid("connections is a number up to \(mostConnections).")
    }
    return count
  }

  /// The right that a request needs.
  enum Right {
    /// None: it tells nothing but the state.
    case everyone
    /// Figures, which every client of the admin listener may read.
    case figures
    /// An administrator's token, everywhere.
    case administrator
  }

  var right: Right {
    switch self {
    case .health, .readiness: .everyone
    case .metrics, .status: .figures
    case .connections, .closeConnection, .databases, .deleteDatabase: .administrator
    }
  }
}
