package import TernCore
package import TernQuery

/// The metadata of a bundle. Source: documents reference, section 5.13.
///
/// The two totals are those that the bundle claims; the reader compares them with what it found.
package struct BundleMetadata: Hashable, Sendable {
  package let id: String
  /// The creation time; of two bundles with one id, the later one counts.
  package let createTime: DocumentVersion
  package let version: Int
  package let totalDocuments: Int
  package let totalBytes: Int

  package init(
    id: String, createTime: DocumentVersion, version: Int = 1, totalDocuments: Int = 0,
    totalBytes: Int = 0
  ) {
    self.id = id
    self.createTime = createTime
    self.version = version
    self.totalDocuments = totalDocuments
    self.totalBytes = totalBytes
  }
}

/// A query with a name, and as of when its result was bundled.
///
/// Applications run it by name, and its listeners start from the bundled result.
package struct NamedQuery: Hashable, Sendable {
  package let name: String
  package let query: DocumentQuery
  package let readTime: DocumentVersion

  package init(name: String, query: DocumentQuery, readTime: DocumentVersion) {
    self.name = name
    self.query = query
    self.readTime = readTime
  }
}

/// A document of a bundle, found or missing, and the named queries it belongs to.
package struct BundledDocument: Hashable, Sendable {
  package let document: Document
  package let readTime: DocumentVersion
  package let queries: [String]

  package init(document: Document, readTime: DocumentVersion, queries: [String] = []) {
    self.document = document
    self.readTime = readTime
    self.queries = queries
  }
}

/// The elements of a bundle that was read to its end.
package struct DocumentBundle: Hashable, Sendable {
  package let metadata: BundleMetadata
  package let queries: [NamedQuery]
  package let documents: [BundledDocument]

  package init(
    metadata: BundleMetadata, queries: [NamedQuery] = [], documents: [BundledDocument] = []
  ) {
    self.metadata = metadata
    self.queries = queries
    self.documents = documents
  }
}
