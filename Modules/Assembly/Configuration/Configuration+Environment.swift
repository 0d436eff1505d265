extension Configuration {
  /// Applies every variable whose name starts with `TERN_` and goes on with a section and a key.
  ///
  /// `TERN_STORAGE_KIND` is the key `kind` of the section `storage`; words after the section
  /// join in camel case, so `TERN_CACHE_LIMIT_BYTES` is `limitBytes` of `cache`.
  ///
  /// - Parameter environment: All variables of the process.
  /// - Returns: The variables that start with `TERN_` and name no section, or no key, in the order
  ///   of their names. They are left alone: an orchestrator sets `TERN_PORT` for a service of that
  ///   name.
  @discardableResult
  public mutating func apply(environment: [String: String]) -> [String] {
    var unknown: [String] = []
    for (name, text) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix("TERN_") {
      guard let (section, key) = Self.setting(ofVariable: name) else {
        unknown.append(name)
        continue
      }
      do throws(ConfigurationError) {
        try set(.text(text), for: key, in: section, origin: "variable \(name)")
      } catch {
        preconditionFailure("a known section takes every key")
      }
    }
    return unknown
  }

  /// The section and key that a variable sets; `nil` when it names no section, or no key.
  public static func setting(ofVariable name: String) -> (section: String, key: String)? {
    guard name.hasPrefix("TERN_") else { return nil }
    let words = name.dropFirst(5).lowercased().split(separator: "_").map(String.init)
    guard let section = words.first, words.count > 1, sectionNames.contains(section) else {
      return nil
    }
    return (section, camelCased(words.dropFirst()))
  }

  private static func camelCased(_ words: some Collection<String>) -> String {
    guard let first = words.first else { return "" }
    return words.dropFirst().reduce(first) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
  }
}
