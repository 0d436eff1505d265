import TernCore
import TernLedger
import TernStorage

/// A database with stored data.
package struct StoredDatabase: Hashable, Sendable {
  /// True for documents, false for a tree.
  package var isDocuments: Bool
  /// The name of a tree's database, or `projects/P/databases/D`.
  package var name: String
  /// The rows that were counted, with the bytes of their keys and values.
  package var rows = 0
  package var bytes = 0
  /// True when all rows were counted.
  package var isWhole = false

  /// The database as operators see it.
  func json(sessions: [String: Int], sizes: Bool) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init("model", .string(isDocuments ? "documents" : "tree")), .init("name", .string(name)),
    ]
    if !isDocuments { members.append(.init("sessions", .integer(Int64(sessions[name] ?? 0)))) }
    if sizes {
      members.append(.init("rows", .integer(Int64(rows))))
      members.append(.init("bytes", .integer(Int64(bytes))))
      members.append(.init("isWhole", .bool(isWhole)))
    }
    return .object(members)
  }
}

/// Lists the databases of a store, and counts what they hold for as long as the time allows.
///
/// It reads a snapshot on a thread beside the server's executor. Listing costs a seek for each
/// database, counting a pass over all rows.
struct StoredDatabases {
  /// The most databases of each model.
  private static let most = 10_000
  /// The time for all counts together, in milliseconds.
  private static let countMilliseconds: Int64 = 2_000
  /// The rows between two looks at the clock.
  private static let rowsPerLook = 1_024

  let uptime: @Sendable () -> Int64
  let counts: Bool

  /// Reads what a snapshot holds.
  ///
  /// Counting goes database by database and stops at the deadline; those that were not reached have
  /// ``StoredDatabase/isWhole`` false.
  func read(in snapshot: borrowing LedgerSnapshot) throws(StorageError) -> [StoredDatabase] {
    var found = try names(below: StoreLayout.trees, in: snapshot).map {
      StoredDatabase(isDocuments: false, name: $0)
    }
    found += try names(below: StoreLayout.allDocuments, in: snapshot).map {
      StoredDatabase(isDocuments: true, name: $0)
    }
    guard counts else { return found }
    let deadline = uptime() + Self.countMilliseconds
    for index in found.indices { try count(&found[index], until: deadline, in: snapshot) }
    return found
  }

  private func names(
    below prefix: [UInt8], in snapshot: borrowing LedgerSnapshot
  ) throws(StorageError) -> [String] {
    var names: [String] = []
    var range = KeyRange(prefix: prefix)
    while names.count < Self.most {
      var cursor = snapshot.cursor(over: range, limit: 1)
      guard try cursor.next() else { break }
      let name = [UInt8](copying: cursor.key).dropFirst(prefix.count).prefix { $0 != 0 }
      names.append(String(decoding: name, as: UTF8.self))
      // On to the next name: behind everything that begins with this one and its end.
      guard let next = KeyRange.successor(ofPrefix: prefix + name + [0]) else { break }
      range.lower = next
    }
    return names
  }

  private func count(
    _ database: inout StoredDatabase, until deadline: Int64,
    in snapshot: borrowing LedgerSnapshot
  ) throws(StorageError) {
    let prefix = database.isDocuments ? StoreLayout.allDocuments : StoreLayout.trees
    var cursor = snapshot.cursor(over: KeyRange(prefix: prefix + database.name.utf8 + [0]))
    while try cursor.next() {
      database.rows += 1
      database.bytes += cursor.key.count + cursor.value.count
      if database.rows % Self.rowsPerLook == 0, uptime() > deadline { return }
    }
    database.isWhole = true
  }
}
