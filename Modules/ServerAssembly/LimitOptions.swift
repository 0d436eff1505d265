public import TernAssembly
public import TernServer

/// The limits on the requests of clients: the section `limits` of a configuration.
///
/// In the configuration: `{"requestsPerAddress": 500, "requestsPerIdentity": 100}`, a second.
public struct LimitOptions: Hashable, Sendable {
  /// The limits on requests in a time.
  public var rates = RateLimits()
  /// The most bytes of one request's body over REST, up to ``mostBodyBytes``; `nil` for what the
  /// endpoints allow by themselves.
  public var bodyBytes: Int?

  /// The most memory that all clients together may make the server hold, in bytes, 16 MiB or more;
  /// `nil` for what the server allows by itself.
  public var memoryBytes: Int?
  /// The part of it that one address may take; `nil` for a quarter.
  public var memoryBytesPerAddress: Int?
  /// The part of it that one user may take; `nil` for a quarter.
  public var memoryBytesPerIdentity: Int?

  /// The bytes by which the store's files may grow during a backup; `nil` for what the server
  /// allows by itself. See `ServerLimits.backupGrowthBytes`.
  public var backupGrowthBytes: Int?

  /// The databases that clients may use; `nil` for any. See `ServerLimits.databases`.
  public var databases: [String]?

  /// The least that ``memoryBytes`` may be: one large write has to fit.
  public static let leastMemoryBytes = 16 << 20

  /// The greatest body of one request over REST. Source: realtime reference, section 13.
  public static let mostBodyBytes = 256 << 20

  /// No limits of this kind.
  public init() {}
}

extension LimitOptions: Decodable {
  private enum CodingKeys: String, CodingKey {
    case requestsPerAddress, requestsPerIdentity, burstSeconds, bodyBytes
    case memoryBytes, memoryBytesPerAddress, memoryBytesPerIdentity, databases, backupGrowthBytes
  }

  /// Reads the section; what it leaves out keeps its standard value.
  public init(from decoder: any Decoder) throws {
    let section = try decoder.container(keyedBy: CodingKeys.self)
    self.init()
    func number(
      _ key: CodingKeys, from least: Int = 1, upTo most: Int = 1_000_000
    ) throws -> Int? {
      guard let number = try section.decodeIfPresent(Int.self, forKey: key) else { return nil }
      guard (least...most).contains(number) else {
        throw DecodingError.dataCorruptedError(
          forKey: key, in: section, debugDescription: "\(number) is not in \(least)...\(most)")
      }
      return number
    }
    rates.requestsPerAddress = try number(.requestsPerAddress)
    rates.requestsPerIdentity = try number(.requestsPerIdentity)
    rates.burstSeconds = try number(.burstSeconds) ?? rates.burstSeconds
    memoryBytes = try number(.memoryBytes, from: Self.leastMemoryBytes, upTo: 1 << 50)
    memoryBytesPerAddress = try number(.memoryBytesPerAddress, from: 1 << 20, upTo: 1 << 50)
    memoryBytesPerIdentity = try number(.memoryBytesPerIdentity, from: 1 << 20, upTo: 1 << 50)
    backupGrowthBytes = try number(.backupGrowthBytes, from: 1 << 20, upTo: 1 << 50)
    databases = try section.decodeIfPresent([String].self, forKey: .databases)
    bodyBytes = try number(.bodyBytes, upTo: Self.mostBodyBytes)
  }
}

extension Assembler {
  /// Reads the section `limits`.
  public func limitOptions(
    of configuration: Configuration
  ) throws(ConfigurationError) -> LimitOptions {
    try SectionReader(section: "limits", ownKeys: [])
      .read(LimitOptions.self, from: configuration.limits)
  }
}
