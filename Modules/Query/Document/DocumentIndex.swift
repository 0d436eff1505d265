public import TernCore

/// An index: fields of the documents of one collection id that are kept sorted, beside the
/// documents.
///
/// It holds an entry for every document that has all of its fields; for a field whose array's
/// elements are kept, one for each element. Source: documents reference, section 5.11.
public struct DocumentIndex: Hashable, Sendable {
  /// One field.
  public struct Segment: Hashable, Sendable {
    /// The kind of index entry for a field.
    ///
    /// The raw value is stored with the index.
    public enum Kind: UInt8, Hashable, Sendable {
      /// Its value, smaller ones first.
      case ascending = 1
      /// Its value, larger ones first.
      case descending = 2
      /// The elements of the array it holds.
      case contains = 3
    }

    /// The field.
    public let path: DocumentFieldPath
    /// The kind of index entry for the field.
    public let kind: Kind

    /// Describes one field.
    public init(_ path: DocumentFieldPath, _ kind: Kind) {
      self.path = path
      self.kind = kind
    }
  }

  /// The id of the collections.
  public let group: String
  /// The fields, at least one; one of elements comes first.
  public let segments: [Segment]

  /// Describes an index; fields of elements are put first.
  public init(group: String, segments: [Segment]) {
    self.group = group
    self.segments =
      segments.filter { $0.kind == .contains } + segments.filter { $0.kind != .contains }
  }
}

extension DocumentIndex: CustomStringConvertible {
  /// The collection id and the fields, such as `cities(state ascending, tags contains)`.
  public var description: String {
    "\(group)(\(segments.map { "\($0.path) \($0.kind)" }.joined(separator: ", ")))"
  }
}
