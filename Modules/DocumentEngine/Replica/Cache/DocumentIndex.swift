package import TernCore

/// Which fields of the documents of one collection id are kept sorted, beside the documents.
///
/// It holds an entry for every document that has all of its fields; for a field whose array's
/// elements are kept, one for each element. Source: documents reference, section 5.11.
package struct DocumentIndex: Hashable, Sendable {
  /// One field.
  package struct Segment: Hashable, Sendable {
    /// What of the field is kept.
    package enum Kind: UInt8, Hashable, Sendable {
      /// Its value, smaller ones first.
      case ascending = 1
      /// Its value, larger ones first.
      case descending = 2
      /// The elements of the array it holds.
      case contains = 3
    }

    package let path: DocumentFieldPath
    package let kind: Kind

    package init(_ path: DocumentFieldPath, _ kind: Kind) {
      self.path = path
      self.kind = kind
    }
  }

  /// The id of the collections.
  package let group: String
  /// The fields, at least one; one of elements comes first.
  package let segments: [Segment]

  package init(group: String, segments: [Segment]) {
    self.group = group
    self.segments =
      segments.filter { $0.kind == .contains } + segments.filter { $0.kind != .contains }
  }
}
