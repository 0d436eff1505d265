import TernCore

/// A request to what an emulator offers beside the services: on a development server only.
///
/// Source: Firestore server reference, section 5.
enum EmulatorRequest: Equatable, Sendable {
  /// Removes all documents of a database, or those at and below a path.
  case clear(database: String, path: [String])
  /// Replaces the rules of a project's documents.
  case rules(project: String)
  /// Reads what the expressions of a project's rules came to so far, as JSON or as a page.
  case ruleCoverage(project: String, isPage: Bool)
  /// The list of the services, as the emulator hub tells it.
  case services
  /// Functions run elsewhere: switching their triggers changes nothing here.
  case triggers(isEnabled: Bool)

  /// Understands a request; `nil` for none of the emulator's.
  init?(_ method: String, _ path: String) {
    switch (method, path) {
    case ("GET", "/emulators"), ("HEAD", "/emulators"): self = .services
    case ("PUT", "/functions/disableBackgroundTriggers"): self = .triggers(isEnabled: false)
    case ("PUT", "/functions/enableBackgroundTriggers"): self = .triggers(isEnabled: true)
    case ("PUT", _):
      guard let project = Self.project(in: path, before: Self.rulesVerb) else { return nil }
      self = .rules(project: project)
    case ("GET", _), ("HEAD", _):
      if let project = Self.project(in: path, before: Self.coverageVerb) {
        self = .ruleCoverage(project: project, isPage: false)
      } else if let project = Self.project(in: path, before: Self.coverageVerb + ".html") {
        self = .ruleCoverage(project: project, isPage: true)
      } else {
        return nil
      }
    case ("DELETE", _):
      guard path.hasPrefix(Self.prefix) else { return nil }
      let parts = path.dropFirst(Self.prefix.count)
        .split(separator: "/", omittingEmptySubsequences: false).map(String.init)
      guard parts.count >= 4, parts[1] == "databases", parts[3] == "documents",
        !parts.contains("")
      else { return nil }
      self = .clear(
        database: "projects/\(parts[0])/databases/\(parts[2])", path: Array(parts.dropFirst(4)))
    default: return nil
    }
  }

  private static let prefix = "/emulator/v1/projects/"
  private static let rulesVerb = ":securityRules"
  private static let coverageVerb = ":ruleCoverage"

  /// The project of a path that ends in a verb.
  private static func project(in path: String, before verb: String) -> String? {
    guard path.hasPrefix(prefix), path.hasSuffix(verb) else { return nil }
    let project = path.dropFirst(prefix.count).dropLast(verb.count)
    return project.isEmpty || project.contains("/") ? nil : String(project)
  }

  /// Returns true for paths that only an emulator has.
  static func serves(_ path: String) -> Bool {
    path.hasPrefix("/emulator/v1/") || path == "/emulators"
      || path == "/functions/disableBackgroundTriggers"
      || path == "/functions/enableBackgroundTriggers"
  }

  /// The list of services that answer at one address.
  ///
  /// All services answer at the same port, the hub among them.
  static func services(host: String, port: Int) -> JSONValue {
    let place: [JSONValue.Member] = [
      .init("host", .string(host)), .init("port", .integer(Int64(port))),
    ]
    let listen = JSONValue.object([
      .init("address", .string(host)), .init("port", .integer(Int64(port))),
      .init("family", .string(host.contains(":") ? "IPv6" : "IPv4")),
    ])
    return .object(
      ["hub", "firestore", "database"].map { name in
        .init(
          name,
          .object([.init("name", .string(name))] + place + [.init("listen", .array([listen]))]))
      })
  }
}

extension HTTPResponse {
  /// An answer of JSON.
  static func json(_ value: JSONValue, status: Int = 200) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: [("Content-Type", DocumentRESTError.jsonType)], body: value.bytes)
  }
}
