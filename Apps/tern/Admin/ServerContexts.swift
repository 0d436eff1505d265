import TernCore

/// The servers that an operator calls by name: a JSON file of objects.
///
/// `{"production": {"server": "db.example.com", "tls": true, "token": "/etc/tern/admin.token"}}`
enum ServerContexts {
  /// The variable that names the context of commands without `--context`.
  static let variable = "TERN_CONTEXT"

  /// One server.
  struct Place: Equatable {
    var server: String?
    /// A file with a token.
    var token: String?
    var tls = false
    /// A file with roots.
    var ca: String?
    /// The database of commands about the tree.
    var database: String?
  }

  /// The file of contexts: `TERN_CONTEXTS`, or `tern/contexts.json` of the user's configuration.
  static var path: String {
    if let path = ClientFlags.variable("TERN_CONTEXTS") { return path }
    let home = ClientFlags.variable("HOME") ?? "."
    let folder = ClientFlags.variable("XDG_CONFIG_HOME") ?? home + "/.config"
    return folder + "/tern/contexts.json"
  }

  /// The context that a flag or the variable names; `nil` when neither does.
  static func chosen(_ flag: String?) throws(Failure) -> Place? {
    guard let name = flag ?? ClientFlags.variable(variable) else { return nil }
    let all = try places(fileBytes(at: path), in: path)
    guard let place = all.first(where: { $0.name == name })?.place else {
      let known = all.isEmpty ? "none" : all.map(\.name).joined(separator: ", ")
      throw Failure(.usage, "\(path) has no context \"\(name)\"; it has \(known)")
    }
    return place
  }

  /// Reads the contexts in a file's text.
  static func places(
    _ text: [UInt8], in path: String
  ) throws(Failure) -> [(name: String, place: Place)] {
    let value: JSONValue
    do throws(JSONError) { value = try JSONValue(parsing: text) } catch {
      throw Failure(.usage, "\(path): \(error)")
    }
    guard case .object(let members) = value else {
      throw Failure(.usage, "\(path) must be an object of contexts")
    }
    var all: [(name: String, place: Place)] = []
    for member in members {
      guard case .object(let keys) = member.value else {
        throw Failure(.usage, "\(path): \"\(member.name)\" must be an object")
      }
      all.append((member.name, try place(keys, "\(path): \"\(member.name)\"")))
    }
    return all
  }

  private static func place(
    _ members: [JSONValue.Member], _ origin: String
  ) throws(Failure) -> Place {
    var place = Place()
    for member in members {
      switch (member.name, member.value) {
      case ("server", .string(let text)): place.server = text
      case ("token", .string(let text)): place.token = text
      case ("ca", .string(let text)): place.ca = text
      case ("database", .string(let text)): place.database = text
      case ("tls", .bool(let value)): place.tls = value
      default:
        throw Failure(
          .usage,
          "\(origin): \"\(member.name)\" is no key of a context, or of another type; the keys are "
            + "server, token, tls, ca, database")
      }
    }
    return place
  }
}
