import TernCore
import TernDocumentAuthority
public import TernLedger
public import TernStorage

extension RestoredStore {
  /// The longest prefix at which index rows hold references as all others do.
  private static let plainPrefixBytes = 75

  /// Copies one database with its rules and settings to another store, in one write. No server has
  /// it open.
  ///
  /// The log of the other store begins anew: it cannot lead to the copied rows. A database of
  /// documents without rules of its own keeps those of its project, as its own, where the other
  /// store has others for that project.
  ///
  /// - Parameter now: In milliseconds since 1970: documents have that moment as their update time,
  ///   so that no client takes them for older than what it saw under the new name. `nil` keeps
  ///   their versions, for a store that no client of before meets.
  /// - Throws: ``BackupError/inaccessible(_:)`` when there is no database of that name, or one of
  ///   the new name already. ``BackupError/ledger(_:)`` with `foreignStore` when the target is a
  ///   node's copy of a shared log.
  public func copyDatabase(
    _ name: String, as new: String, into target: any OrderedStore, now: Int64?
  ) throws(BackupError) {
    let copy = DatabaseCopy(
      from: DatabaseLayout.database(name), to: DatabaseLayout.database(new), now: now)
    let prefixBytes = max(copy.old.prefix.count, copy.new.prefix.count)
    if copy.old.isDocuments, name != new, prefixBytes > Self.plainPrefixBytes {
      throw .inaccessible("names of document databases of more than 73 bytes cannot be changed")
    }
    var obstacle: DatabaseCopy.Obstacle?
    do throws(LedgerError) {
      try NodeCopy.refuse(target)
      let from = try EmbeddedLedger(store: store) { 0 }
      // Brings a store of an earlier format up to date.
      _ = try EmbeddedLedger(store: target) { 0 }
      // Reading through a ledger sees what its journal holds.
      try from.read { snapshot throws(StorageError) in
        do throws(LedgerError) {
          try LedgerRewriting.rewrite(target) { transaction throws(StorageError) in
            obstacle = try copy.obstacle(in: snapshot, transaction)
            guard obstacle == nil else { throw .abandoned }
            try copy.copy(snapshot, to: &transaction)
          }
        } catch {
          switch error {
          case .storage(let error): throw error
          case .corrupt(let key): throw .corruptRecord(key: key)
          default: throw .abandoned
          }
        }
      }
    } catch {
      switch obstacle {
      case .missing?: throw .inaccessible("there is no database \"\(name)\" in the backup")
      case .occupied?:
        throw .inaccessible("there is a database \"\(new)\" in the server's store already")
      case nil: throw .ledger(error)
      }
    }
  }
}

/// The steps of copying one database.
private struct DatabaseCopy {
  /// The reason a database is not copied.
  enum Obstacle {
    /// The backup has no such database.
    case missing
    /// The target has one of the new name.
    case occupied
  }

  let old: DatabaseLayout.Database
  let new: DatabaseLayout.Database
  private let now: Int64?

  init(from old: DatabaseLayout.Database, to new: DatabaseLayout.Database, now: Int64?) {
    (self.old, self.new, self.now) = (old, new, now)
  }

  /// Returns the reason the copy cannot be made, if there is one.
  func obstacle(
    in source: borrowing LedgerSnapshot, _ target: borrowing WriteTransaction
  ) throws(StorageError) -> Obstacle? {
    if try source.scan(KeyRange(prefix: old.prefix), limit: 1).isEmpty { return .missing }
    // A database whose documents were deleted keeps rows about them for listeners.
    let isOccupied =
      if new.isDocuments {
        try DocumentEpoch(prefix: new.prefix).hasDocuments(in: target)
      } else {
        try !target.scan(KeyRange(prefix: new.prefix), limit: 1).isEmpty
      }
    return isOccupied ? .occupied : nil
  }

  /// Copies the rows of the database, its rules and its settings.
  func copy(
    _ source: borrowing LedgerSnapshot, to target: inout WriteTransaction
  ) throws(StorageError) {
    let database = DocumentEpoch(prefix: new.prefix)
    let epoch = try old.isDocuments ? self.epoch(source, target) : nil
    try target.remove(in: KeyRange(prefix: new.prefix))
    var cursor = source.cursor(over: KeyRange(prefix: old.prefix))
    while try cursor.next() {
      let key = new.prefix + [UInt8](copying: cursor.key).dropFirst(old.prefix.count)
      if let epoch {
        try target.put(try database.adopted(cursor.value, for: key, epoch), for: key)
      } else {
        try target.put(cursor.value, for: key.span)
      }
    }
    if old.isDocuments {
      try copyDocumentRules(source, to: &target)
    } else {
      for kind in [StoreLayout.rules, StoreLayout.settings] {
        guard let value = try source.get(kind + old.name.utf8) else { continue }
        try target.put(value, for: kind + new.name.utf8)
      }
    }
  }

  /// Returns the version of the copy, later than all that a client may have seen under either name.
  private func epoch(
    _ source: borrowing LedgerSnapshot, _ target: borrowing WriteTransaction
  ) throws(StorageError) -> DocumentVersion? {
    guard let now else { return nil }
    let versions = [
      try DocumentEpoch(prefix: old.prefix).nextEpoch(now: now * 1_000, in: source),
      try DocumentEpoch(prefix: new.prefix).nextEpoch(now: now * 1_000, in: target),
    ]
    return versions.compactMap { $0 }.max { $0.microseconds < $1.microseconds }
  }

  /// Gives the copy the rules that decided about the original, unless they came from the server's
  /// files.
  private func copyDocumentRules(
    _ source: borrowing LedgerSnapshot, to target: inout WriteTransaction
  ) throws(StorageError) {
    func key(_ name: String) -> [UInt8] { StoreLayout.documentRules + name.utf8 }
    func project(of name: String) -> String {
      name.split(separator: "/").prefix(2).joined(separator: "/")
    }
    if let own = try source.get(key(old.name)) {
      return try target.put(own, for: key(new.name))
    }
    guard let common = try source.get(key(project(of: old.name))) else { return }
    // Rules that the target has for the project may change with it.
    if try target.get(key(project(of: new.name))) == common,
      try target.get(key(new.name)) == nil
    {
      return
    }
    try target.put(common, for: key(new.name))
  }
}
