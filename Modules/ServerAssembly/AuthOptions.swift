public import TernAssembly

/// The tokens that a server accepts: the section `auth` of a configuration.
///
/// In the configuration: `{"keys": ["key.pem"], "issuers": ["https://id.example"]}`. One text
/// stands for a list of one.
public struct AuthOptions: Hashable, Sendable {
  /// Files with the keys that tokens are checked with; without any no token is taken.
  public var keys: [String] = []
  /// Accepted issuers (`iss`); empty accepts any with a known key.
  public var issuers: [String] = []
  /// Accepted audiences (`aud`); empty accepts any.
  public var audiences: [String] = []
  /// The tolerated difference between the clocks of issuer and server, 0...300.
  public var clockSkewSeconds: Int64 = 30
  /// The file that says whose tokens were revoked.
  public var revocations: String?

  /// No tokens.
  public init() {}
}

extension AuthOptions: Decodable {
  private enum CodingKeys: String, CodingKey {
    case keys, issuers, audiences, clockSkewSeconds, revocations
  }

  /// Reads the section; what it leaves out keeps its standard value.
  public init(from decoder: any Decoder) throws {
    let section = try decoder.container(keyedBy: CodingKeys.self)
    self.init()
    func list(_ key: CodingKeys) throws -> [String]? {
      try section.decodeIfPresent(OneOrMore.self, forKey: key)?.texts
    }
    keys = try list(.keys) ?? keys
    issuers = try list(.issuers) ?? issuers
    audiences = try list(.audiences) ?? audiences
    clockSkewSeconds =
      try section.decodeIfPresent(Int64.self, forKey: .clockSkewSeconds) ?? clockSkewSeconds
    revocations = try section.decodeIfPresent(String.self, forKey: .revocations)
    guard (0...300).contains(clockSkewSeconds) else {
      throw DecodingError.dataCorruptedError(
        forKey: .clockSkewSeconds, in: section,
        debugDescription: "\(clockSkewSeconds) is not in 0...300")
    }
  }
}

/// A text, or a list of them.
private struct OneOrMore: Decodable {
  let texts: [String]

  init(from decoder: any Decoder) throws {
    if let text = try? decoder.singleValueContainer().decode(String.self) {
      texts = [text]
    } else {
      texts = try [String](from: decoder)
    }
  }
}

extension Assembler {
  /// Reads the section `auth`.
  public func authOptions(
    of configuration: Configuration
  ) throws(ConfigurationError) -> AuthOptions {
    try SectionReader(section: "auth", ownKeys: ["kind"])
      .read(AuthOptions.self, from: configuration.auth)
  }
}
