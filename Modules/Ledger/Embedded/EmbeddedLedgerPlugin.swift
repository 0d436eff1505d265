import TernStorage

/// Opens an ``EmbeddedLedger`` in the server's store, for `{"kind": "embedded"}`.
public enum EmbeddedLedgerPlugin: LedgerPlugin {
  /// The part of the log that is kept: `{"logLimit": 10000, "logBytes": 268435456,
  /// "logAge": 2700}`.
  public struct Options: Sendable {
    /// The limits as the ledger takes them.
    public var ledger = LedgerOptions()

    /// The standard limits.
    public init() {}
  }

  public static let kind = "embedded"

  public static func open(
    _ options: Options, with resources: LedgerResources
  ) async throws(LedgerError) -> any Ledger {
    let store: any OrderedStore
    do throws(StorageError) { store = try await resources.openStore() } catch {
      throw .storage(error)
    }
    try NodeCopy.refuse(store)
    var limits = options.ledger
    limits.bound(byStoreLimit: resources.storeLimitBytes)
    return try EmbeddedLedger(store: store, options: limits, uptime: resources.uptime)
  }
}

extension EmbeddedLedgerPlugin.Options: Decodable {
  /// The ranges that values may be in.
  private static let ranges = (commits: 1...1_000_000_000, bytes: 0...1 << 50, age: 0...1 << 32)

  private enum CodingKeys: String, CodingKey {
    case logLimit, logBytes, logAge
  }

  /// Reads the section; what it leaves out keeps its standard value.
  public init(from decoder: any Decoder) throws {
    let section = try decoder.container(keyedBy: CodingKeys.self)
    func number(_ key: CodingKeys, in range: ClosedRange<Int>) throws -> Int? {
      guard let number = try section.decodeIfPresent(Int.self, forKey: key) else { return nil }
      guard range.contains(number) else {
        throw DecodingError.dataCorruptedError(
          forKey: key, in: section, debugDescription: "\(number) is not in \(range)")
      }
      return number
    }
    if let limit = try number(.logLimit, in: Self.ranges.commits) {
      ledger.logLimit = UInt64(limit)
    }
    if let bytes = try number(.logBytes, in: Self.ranges.bytes) { ledger.logBytes = UInt64(bytes) }
    if let age = try number(.logAge, in: Self.ranges.age) { ledger.logAge = .seconds(age) }
  }
}
