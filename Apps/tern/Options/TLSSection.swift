import TernAssembly

extension Configuration {
  /// Asks for TLS, and sets keys of `transport.tls`; those without a value stay as they are.
  mutating func askForTLS(_ texts: [String: String?]) throws(ConfigurationError) {
    var members = transport.members["tls"]?.members ?? [:]
    for (key, text) in texts { if let text { members[key] = .string(text) } }
    try set(.object(members), for: "tls", in: "transport", origin: "flag tls")
  }

  /// A program whose other end is another program needs a transport that leaves it.
  func refuseLoopback() throws(ConfigurationError) {
    guard transport.members["kind"]?.stringValue == "loopback" else { return }
    throw .refused(
      section: "transport",
      reason: "loopback joins a client and a server in one program; here it has to be tcp")
  }
}
