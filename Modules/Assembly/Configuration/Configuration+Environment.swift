extension Configuration {
  /// Applies every variable whose name starts with `TERN_`.
  ///
  /// `TERN_STORAGE_KIND` is the key `kind` of the section `storage`; words after the section
  /// join in camel case, so `TERN_CACHE_LIMIT_BYTES` is `limitBytes` of `cache`.
  ///
  /// - Parameter environment: All variables of the process; the others are left alone.
  /// - Throws: ``ConfigurationError/unknownSection(_:known:origin:)`` for a variable that names no
  ///   section, ``ConfigurationError/missingKey(_:section:)`` for one that names no key.
  public mutating func apply(
    environment: [String: String]
  ) throws(ConfigurationError) {
    for (name, text) in environment.sorted(by: { $0.key < $1.key }) {
      guard name.hasPrefix("TERN_") else { continue }
      let words = name.dropFirst(5).lowercased().split(separator: "_").map(String.init)
      guard let section = words.first else {
        throw .unknownSection("", known: Self.sectionNames, origin: "variable \(name)")
      }
      guard words.count > 1 || !Self.sectionNames.contains(section) else {
        throw .missingKey("TERN_\(section.uppercased())_…", section: section)
      }
      let key = camelCased(words.dropFirst())
      try set(.text(text), for: key, in: section, origin: "variable \(name)")
    }
  }

  private func camelCased(_ words: some Collection<String>) -> String {
    guard let first = words.first else { return "" }
    return words.dropFirst().reduce(first) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
  }
}
