/// The shards that databases belong to, by their names: each shard has a log of its own.
///
/// An entry is the name of one database, or the beginning of names and `*`. The name of a tree is
/// its namespace, that of a database of documents `projects/P/databases/D`. An entry without `*`
/// goes before all others, then the longest one counts. What no entry names belongs to shard 0.
///
/// All nodes of a cluster have the same table; a node refuses what another one passes on to it by
/// another table.
public struct ShardTable: Hashable, Sendable {
  /// The most entries.
  public static let mostEntries = 4_096

  /// The shard of databases that no entry names.
  public static let rest: UInt32 = 0

  private var exact: [[UInt8]: UInt32] = [:]
  /// Beginnings of names, the longest first.
  private var beginnings: [Beginning] = []

  private struct Beginning: Hashable, Sendable {
    let bytes: [UInt8]
    let shard: UInt32
  }

  /// A table by which everything belongs to shard 0.
  public init() {}

  /// A table with the entries of each shard.
  ///
  /// - Throws: ``ShardTableError``.
  public init(_ entries: [UInt32: [String]]) throws(ShardTableError) {
    for (shard, names) in entries.sorted(by: { $0.key < $1.key }) {
      for name in names { try add(name, to: shard) }
    }
    beginnings.sort { $0.bytes.count > $1.bytes.count }
  }

  private mutating func add(_ entry: String, to shard: UInt32) throws(ShardTableError) {
    guard exact.count + beginnings.count < Self.mostEntries else {
      throw .tooMany(limit: Self.mostEntries)
    }
    let isBeginning = entry.hasSuffix("*")
    let bytes = Array(entry.utf8.dropLast(isBeginning ? 1 : 0))
    guard !bytes.isEmpty, !bytes.contains(UInt8(ascii: "*")) else { throw .malformed(entry) }
    guard isBeginning else {
      if exact.updateValue(shard, forKey: bytes) != nil { throw .repeated(entry) }
      return
    }
    if beginnings.contains(where: { $0.bytes == bytes }) { throw .repeated(entry) }
    beginnings.append(Beginning(bytes: bytes, shard: shard))
  }

  /// True for a table without entries.
  public var isEmpty: Bool { exact.isEmpty && beginnings.isEmpty }

  /// The shards that databases belong to, in order.
  public var shards: [UInt32] {
    Set(exact.values).union(beginnings.map(\.shard)).union([Self.rest]).sorted()
  }

  /// Returns the shard of the database with a name.
  ///
  /// - Complexity: O(*n*) in the entries with `*`.
  public func shard(of name: String) -> UInt32 {
    if let shard = exact[Array(name.utf8)] { return shard }
    return beginnings.first { name.utf8.starts(with: $0.bytes) }?.shard ?? Self.rest
  }
}

/// The reason why entries make no table of shards.
public enum ShardTableError: Error, Hashable, Sendable {
  /// Two entries are the same.
  case repeated(String)
  /// An entry is empty, or has a `*` before its end.
  case malformed(String)
  /// There are more than ``ShardTable/mostEntries``.
  case tooMany(limit: Int)
}

extension ShardTableError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .repeated(let entry): "\"\(entry)\" is named twice"
    case .malformed(let entry): "\"\(entry)\" is no name, and no beginning of names with a *"
    case .tooMany(let limit): "more than \(limit) entries"
    }
  }
}
