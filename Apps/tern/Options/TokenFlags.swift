import ArgumentParser
import TernAssembly

/// The flags for the tokens that a server accepts.
struct TokenFlags: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Keys that tokens are signed with: a secret, PEM, or a JSON Web Key Set. May be repeated.",
      valueName: "file"))
  var authKeys: [String] = []

  @Option(
    help: ArgumentHelp("Take only tokens of this issuer. May be repeated.", valueName: "name"))
  var authIssuer: [String] = []

  @Option(
    help: ArgumentHelp(
      "Take only tokens meant for this audience. May be repeated.",
      valueName: "name"))
  var authAudience: [String] = []

  @Option(
    help: ArgumentHelp("Whose tokens were revoked, see `tern auth revoke`.", valueName: "file"))
  var authRevocations: String?

  /// Sets what was given; the rest stays as the configuration says.
  func apply(to configuration: inout Configuration) throws(ConfigurationError) {
    let lists = [("keys", authKeys), ("issuers", authIssuer), ("audiences", authAudience)]
    for (key, texts) in lists where !texts.isEmpty {
      let value = ConfigurationValue.array(texts.map { .string($0) })
      try configuration.set(value, for: key, in: "auth", origin: "flag \(key)")
    }
    if let authRevocations {
      try configuration.set(
        .string(authRevocations), for: "revocations", in: "auth", origin: "flag revocations")
    }
  }
}
