import TernAssembly

extension Configuration {
  /// Asks for TLS, and sets keys of `transport.tls`; those without a value stay as they are.
  mutating func askForTLS(_ texts: [String: String?]) throws(ConfigurationError) {
    var members = transport.members["tls"]?.members ?? [:]
    for (key, text) in texts { if let text { members[key] = .string(text) } }
    try set(.object(members), for: "tls", in: "transport", origin: "flag tls")
  }
}
