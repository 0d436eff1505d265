import TernCore
package import TernLedger
package import TernStorage

extension DocumentAuthority {
  /// Forgets what documents were longer ago than ``DocumentAuthorityLimits/changeRetention``.
  ///
  /// - Parameters:
  ///   - scope: Where to go on; 0 to begin with.
  ///   - limit: The most collections and groups to look at.
  /// - Returns: What to commit, and where to go on next time; 0 when all were looked at.
  package func sweep(
    from scope: UInt32, limit: Int, in reader: any StoreReader
  ) throws(StorageError) -> (mutations: [Mutation], next: UInt32) {
    let reading = DocumentReading(rows, reader)
    let floor = DocumentVersion(
      microseconds: try reading.state().last.microseconds
        - DocumentAuthorityLimits.changeRetention)
    let end = KeyRange.successor(ofPrefix: rows.key(.change))
    let prefixCount = rows.key(.change).count
    var next = scope
    var mutations: [Mutation] = []
    for _ in 0..<limit {
      let range = KeyRange(from: rows.key(.change, next), to: end)
      guard let row = try reading.scan(range, limit: 1).first else { return (mutations, 0) }
      var reader = ByteReader(row.key, from: prefixCount)
      guard let found = reader.bigEndian(ScopeNumber.self),
        let version = reader.bigEndian(Int64.self)
      else { throw .corruptRecord(key: row.key) }
      if version < floor.microseconds {
        mutations.append(
          .remove(KeyRange(from: row.key, to: rows.changeKey(found, floor, index: 0))))
      }
      if found == .max { return (mutations, 0) }
      next = found + 1
    }
    return (mutations, next)
  }
}
