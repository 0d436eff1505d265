public import TernLedger
public import TernStorage

/// A damaged record in the store of a server.
public struct DamagedServerRecord: Hashable, Sendable {
  /// The kind of data that the record is part of.
  public enum Kind: String, Sendable {
    /// The ledger's name and version.
    case format
    /// The history of commits.
    case log
    /// The outcomes of one client's writes.
    case stream
    /// The last writes of all clients, as they were made durable.
    case journal
    /// Space for a full disk.
    case reserve
    /// A write that a session left for its end.
    case deferred
    /// The rules of a database that has its own.
    case rules
    /// The rules for documents of a project or a database.
    case documentRules
    /// Before when the tokens of a user do not count.
    case revocation
    /// Settings of a database.
    case settings
    /// Data of trees, or of documents.
    case data
  }

  let row: DamagedRow
  /// The kind of data that it is part of.
  public let kind: Kind

  /// Its key.
  public var key: [UInt8] { row.key }

  /// Its value, damaged as it is.
  public var value: [UInt8] { row.value }

  /// True when a server starts with it: a request that meets it fails with that reason.
  public var isLeftAlone: Bool { kind == .data }

  init(_ row: DamagedRow) {
    self.row = row
    kind =
      switch row.key.first {
      case LedgerKey.format[0]: .format
      case LedgerKey.log: .log
      case LedgerKey.stream: .stream
      case LedgerKey.journal: .journal
      case LedgerKey.reserve[0]: .reserve
      case StoreLayout.presence[0]: .deferred
      case StoreLayout.rules[0]: .rules
      case StoreLayout.documentRules[0]: .documentRules
      case StoreLayout.revocations[0]: .revocation
      case StoreLayout.settings[0]: .settings
      default: .data
      }
  }

  /// The name of the database, or the id of the user, that it is about.
  private var name: String { String(decoding: row.key.dropFirst(), as: UTF8.self) }

  /// The consequence of its loss, in one sentence.
  public var consequence: String {
    switch kind {
    case .format: "it is written anew"
    case .log: "the history up to it is forgotten; the data are not"
    case .stream: "writes whose answers a client had not heard may be made twice"
    case .journal where row.remainder != nil:
      "writes in it that no store takes, which stopped all others, are lost"
    case .journal: "writes of that moment are lost, but for those that clients send again"
    case .reserve: "it is made again when it is needed"
    case .deferred: "what a session left for its end does not happen"
    case .rules: "database \(name) is closed until it is given rules again"
    case .documentRules: "documents of \(name) are closed until it is given rules again"
    case .revocation: "no token that user \(name) was given until now counts"
    case .settings: "database \(name) has the default settings"
    case .data: "it stays: what meets it is refused, all else goes on"
    }
  }

  /// Returns the row that takes its place, so that no right is widened: `nil` for none.
  fileprivate func substitute(now: Int64) -> [UInt8]? {
    switch kind {
    case .rules: Array(#"{"rules": {}}"#.utf8)
    case .documentRules: Array(DocumentRulesTable.closedSource.utf8)
    case .revocation:
      (0..<8).map { UInt8(truncatingIfNeeded: (now / 1_000 + 1) >> Int64(56 - 8 * $0)) }
    default: nil
    }
  }
}

/// The recovery of a server whose store has corrupt records. No process may have the store open.
extension TernServer {
  /// Finds what is damaged. O(size of the store).
  public static func damagedRecords(
    in store: any OrderedStore
  ) throws(StorageError) -> [DamagedServerRecord] {
    try EmbeddedLedger.damagedRows(in: store).map { DamagedServerRecord($0) }
  }

  /// Takes damaged records but those of data out of the store, all in one write, so that a server
  /// starts; ``DamagedServerRecord/consequence`` says what it goes on without. Keep them first.
  ///
  /// - Parameter now: In milliseconds since 1970.
  /// - Throws: ``LedgerError/foreignStore`` for a node's copy of a shared log: delete it instead.
  public static func setAside(
    _ records: [DamagedServerRecord], in store: any OrderedStore, now: Int64
  ) throws(LedgerError) {
    let gone = records.filter { !$0.isLeftAlone }
    let substitutes = gone.compactMap { record -> Mutation? in
      let key = record.row.key
      guard key[0] >= LedgerLimits.firstOwnByte else { return nil }
      if let value = record.substitute(now: now) { return .put(key: key, value: value) }
      return .remove(KeyRange(only: key))
    }
    try EmbeddedLedger.setAside(gone.map(\.row), in: store, substitutes: substitutes)
  }
}
