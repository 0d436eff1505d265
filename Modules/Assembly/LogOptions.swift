import TernLedger

/// The part of a server's log that is kept: the section `ledger` of a configuration.
///
/// In the configuration: `{"logLimit": 10000, "logBytes": 268435456, "logAge": 2700}`.
struct LogOptions: Decodable {
  /// Commits; see ``LedgerOptions/logLimit``.
  var logLimit: Int?
  /// Bytes; see ``LedgerOptions/logBytes``.
  var logBytes: Int?
  /// Seconds; see ``LedgerOptions/logAge``.
  var logAge: Int?

  /// The ranges that values may be in.
  private static let ranges = (commits: 1...1_000_000_000, bytes: 0...1 << 50, age: 0...1 << 32)

  private enum CodingKeys: String, CodingKey {
    case logLimit, logBytes, logAge
  }

  init(from decoder: any Decoder) throws {
    let section = try decoder.container(keyedBy: CodingKeys.self)
    func number(_ key: CodingKeys, in range: ClosedRange<Int>) throws -> Int? {
      guard let number = try section.decodeIfPresent(Int.self, forKey: key) else { return nil }
      guard range.contains(number) else {
        throw DecodingError.dataCorruptedError(
          forKey: key, in: section, debugDescription: "\(number) is not in \(range)")
      }
      return number
    }
    logLimit = try number(.logLimit, in: Self.ranges.commits)
    logBytes = try number(.logBytes, in: Self.ranges.bytes)
    logAge = try number(.logAge, in: Self.ranges.age)
  }
}

extension Assembler {
  /// Reads the section `ledger`.
  func ledgerOptions(
    of configuration: Configuration
  ) throws(ConfigurationError) -> LedgerOptions {
    let section = try SectionReader(section: "ledger", ownKeys: [])
      .read(LogOptions.self, from: configuration.ledger)
    var options = LedgerOptions()
    if let limit = section.logLimit { options.logLimit = UInt64(limit) }
    if let bytes = section.logBytes { options.logBytes = UInt64(bytes) }
    if let age = section.logAge { options.logAge = .seconds(age) }
    return options
  }
}
