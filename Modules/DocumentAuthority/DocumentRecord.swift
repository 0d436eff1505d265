package import TernCore
package import TernStorage

/// A commit of documents as the log keeps it: enough to make the state again.
///
/// Source: Docs/Formats/document-rows.md, section 4.
///
/// Followers take it from the log of a node, and a restore applies it by ``replay(to:)``. Its
/// layout: `10`; prefix (count, bytes); version in 8 bytes; number of documents (count); for each
/// its path (count, UTF-8) and its row (count, bytes), empty for a deletion.
package struct DocumentRecord: Equatable, Sendable {
  /// The prefix of the database's rows.
  package let prefix: [UInt8]
  /// The commit's version.
  package let version: DocumentVersion
  /// The documents it left changed, each as it is then; missing ones were deleted.
  package let documents: [Document]

  /// Tells the record from those of trees.
  private static let format: UInt8 = 0x10

  init(of decision: DocumentDecision, in rows: DocumentRows) {
    prefix = rows.prefix
    version = decision.version
    documents = decision.changes.map(\.after)
  }

  /// Reads a record back; `nil` when the bytes are none.
  ///
  /// Fields of documents are trusted: the log's checksum vouches for them.
  package init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard reader.byte() == Self.format, let prefix = reader.counted(),
      let version = reader.bigEndian(Int64.self), let count = reader.variable()
    else { return nil }
    var documents: [Document] = []
    for _ in 0..<count {
      guard let key = reader.counted(), let row = reader.counted() else { return nil }
      let name = DocumentKey(unchecked: String(decoding: key, as: UTF8.self))
      if row.isEmpty {
        documents.append(
          Document(name, .missing, version: DocumentVersion(microseconds: version)))
      } else {
        guard let document = StoredDocument.decode(row.span, name) else { return nil }
        documents.append(document)
      }
    }
    guard reader.isAtEnd else { return nil }
    self.prefix = prefix
    self.version = DocumentVersion(microseconds: version)
    self.documents = documents
  }

  /// The record's bytes.
  package func encode() -> [UInt8] {
    var writer = ByteWriter()
    writer.append(Self.format)
    writer.append(counted: prefix)
    writer.append(bigEndian: version.microseconds)
    writer.append(variable: UInt64(documents.count))
    for document in documents {
      writer.append(counted: Array(document.key.text.utf8))
      writer.append(counted: document.fields.map { StoredDocument.encode($0, document) } ?? [])
    }
    return writer.bytes
  }
}

extension DocumentAuthority {
  /// The decision that a record tells of, without the results and effects of its single writes.
  ///
  /// - Parameter reader: The state before the commit.
  package func decision(
    of record: DocumentRecord, in reader: any StoreReader
  ) throws(StorageError) -> DocumentDecision {
    var changes: [DocumentCommitChange] = []
    for after in record.documents {
      let before = try document(after.key, in: reader)
      changes.append(DocumentCommitChange(before: before, after: after))
    }
    return DocumentDecision(
      version: record.version, results: [], changes: changes, steps: [], time: record.version)
  }
}
