package import TernCore
import TernQuery
import TernStorage
import TernSync

// Documents and queries that came in a bundle. Source: documents reference, section 5.13.
extension DocumentCache {
  /// Returns `true` if a bundle of this id is loaded that is as new or newer.
  package mutating func hasBundle(_ metadata: BundleMetadata) -> Bool {
    let key = stored.rows.keys.bundle(metadata.id)
    let queries = KeyRange(prefix: stored.rows.keys.begin(.namedQuery))
    let record = stored.reading(orElse: nil) { _, snapshot throws(StorageError) in
      // A bundle whose queries cannot be read is to be taken in again.
      _ = try snapshot.scan(queries)
      return try snapshot.get(key)
    }
    var reader = RecordReader(record ?? [])
    guard let time: Int64 = reader.integer(), let id = reader.text() else { return false }
    return id.utf8.elementsEqual(metadata.id.utf8) && time >= metadata.createTime.microseconds
  }

  /// Takes in the documents and named queries of a bundle; newer documents stay.
  ///
  /// - Parameter spared: The targets whose results stay as they are.
  /// - Returns: The documents that changed, as they are shown now, and the targets whose results
  ///   are those of the bundle's queries.
  package mutating func load(
    _ bundle: DocumentBundle, sparing spared: Set<Int32> = []
  ) -> (changed: [DocumentKey: Document], results: [Int32]) {
    // A target of its own holds the documents, so that they are not evicted at once.
    let umbrella = DocumentQuery.collection(
      CollectionPath(unchecked: "__bundle__/docs/" + bundle.metadata.id))
    stored.fill(
      stored.rememberedOrNew(.query(umbrella.target)), .none,
      with: bundle.documents.map(\.document.key))
    let changed = take(bundle.documents)
    var results: [Int32] = []
    var records: [([UInt8], [UInt8])] = [
      (stored.rows.keys.bundle(bundle.metadata.id), bundle.record)
    ]
    for query in bundle.queries {
      let target = stored.rememberedOrNew(.query(query.query.target))
      let members = bundle.documents.filter {
        $0.queries.contains { $0.utf8.elementsEqual(query.name.utf8) }
      }
      let isNew = target.snapshotVersion < query.readTime || target.sequence == 0
      if isNew, !spared.contains(target.id) {
        stored.fill(target, query.readTime, with: members.map(\.document.key), isWhole: true)
        results.append(target.id)
      }
      records.append((stored.rows.keys.namedQuery(query.name), query.record))
    }
    stored.storeEdits()
    stored.put(records)
    return (changed, results)
  }

  /// A query that came in a bundle.
  package mutating func namedQuery(_ name: String) -> NamedQuery? {
    let key = stored.rows.keys.namedQuery(name)
    let record = stored.reading(orElse: nil) { _, snapshot throws(StorageError) in
      try snapshot.get(key)
    }
    return record.flatMap { NamedQuery(name: name, record: $0) }
  }
}

extension DocumentBundle {
  /// The stored form.
  fileprivate var record: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(integer: metadata.createTime.microseconds)
    bytes.append(text: metadata.id)
    return bytes
  }
}

extension NamedQuery {
  /// Reads a stored record; `nil` when it is none, or of another name.
  fileprivate init?(name: String, record: [UInt8]) {
    var reader = RecordReader(record)
    guard let time: Int64 = reader.integer(), let stored = reader.text(),
      stored.utf8.elementsEqual(name.utf8), let query = SubjectBytes.query(reader.rest())
    else { return nil }
    self.init(name: stored, query: query, readTime: DocumentVersion(microseconds: time))
  }

  /// The stored form.
  fileprivate var record: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(integer: readTime.microseconds)
    bytes.append(text: name)
    return bytes + SubjectBytes.of(query)
  }
}
