import TernCore
package import TernLedger
package import TernStorage

extension DocumentAuthority {
  /// Removes all documents and everything that is known of them, as one commit.
  ///
  /// For tests and emulators: those who watch are told like of any commit, and what clients hold
  /// to resume with is void afterwards.
  ///
  /// - Parameters:
  ///   - now: Wall-clock time in microseconds since 1970.
  ///   - reader: The state that is wiped; later reads of it see nothing.
  /// - Complexity: Reads every document, and holds them all in memory.
  package func wipe(
    now: Int64, to reader: PendingReader
  ) throws(StorageError) -> (decision: DocumentDecision, mutations: [Mutation], record: [UInt8]) {
    let reading = DocumentReading(rows, reader)
    let version = try reading.state().nextVersion(now: now)
    var changes: [DocumentCommitChange] = []
    for row in try reading.scan(KeyRange(prefix: rows.key(.collection))) {
      var bytes = ByteReader(row.value)
      guard let scope = bytes.bigEndian(ScopeNumber.self) else {
        throw .corruptRecord(key: row.key)
      }
      let path = CollectionPath(
        unchecked: String(decoding: row.value.dropFirst(4), as: UTF8.self))
      for document in try documents(in: DocumentScope(number: scope, collection: path), reading) {
        let missing = Document(document.key, .missing, version: version)
        changes.append(DocumentCommitChange(before: document, after: missing))
      }
    }
    let mutations = [Mutation.remove(rows.range)]
    reader.apply(mutations)
    let decision = DocumentDecision(
      version: version, results: [], changes: changes, steps: [], time: version)
    return (decision, mutations, DocumentRecord(of: decision, in: rows).encode())
  }

  private func documents(
    in scope: DocumentScope, _ reading: DocumentReading
  ) throws(StorageError) -> [Document] {
    let range = KeyRange(prefix: rows.key(.document, scope.number))
    var documents: [Document] = []
    for row in try reading.scan(range) {
      guard let key = scope.key(row.key, from: range.lower.count),
        let document = StoredDocument.decode(row.value.span, key)
      else { throw .corruptRecord(key: row.key) }
      documents.append(document)
    }
    return documents
  }
}
