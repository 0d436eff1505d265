import TernCore
import TernQuery
import TernStorage

/// One alternative of a query's filter, sorted by what indexes can do for it.
///
/// A branch is a conjunction of comparisons. Each comparison goes to at most one of ``fixed``,
/// ``keys``, ``keyRanges`` and ``ranges``; the planner reads no other form.
struct QueryBranch {
  /// All of them hold.
  let filters: [DocumentFieldFilter]
  /// One value that a field, or an element of an array, must have.
  struct Fixed {
    let path: DocumentFieldPath
    let value: IndexValue
    /// One of ``FieldEntries/Claim``: the value of the field, or an element of the array it holds.
    let claim: UInt8
  }

  /// The values that fields must have, in the order of the filters.
  private(set) var fixed: [Fixed] = []
  /// The keys asked for; `nil` when any will do.
  private(set) var keys: [DocumentKey]?
  /// The bounds of the key.
  private(set) var keyRanges: [DocumentFieldFilter] = []
  /// The bounds of fields.
  private(set) var ranges: [DocumentFieldFilter] = []

  init(_ filters: [DocumentFieldFilter]) {
    self.filters = filters
    for filter in filters {
      switch (filter.comparison, filter.path.isKey) {
      case (.equal, false):
        fixed.append(
          Fixed(
            path: filter.path, value: IndexValue(filter.operand),
            claim: FieldEntries.Claim.value))
      case (.arrayContains, false):
        fixed.append(
          Fixed(
            path: filter.path, value: IndexValue(filter.operand),
            claim: FieldEntries.Claim.element))
      case (.equal, true):
        if case .reference(let name) = filter.operand { keys = (keys ?? []) + [name.key] }
      case (_, true): keyRanges.append(filter)
      case (_, false): ranges.append(filter)
      }
    }
  }

  /// The alternatives of a query, at most ``DocumentQueryLimits/disjunctions``.
  static func branches(of query: DocumentQuery) -> [QueryBranch] {
    guard let filter = query.filter else { return [QueryBranch([])] }
    return filter.disjunctions(expandingArrays: true).map(QueryBranch.init)
  }

  /// Returns `true` if the branch fixes a field to one value, and so to one position in the order.
  ///
  /// A value that was cut in the index stands for many, so it fixes nothing.
  func fixes(_ path: DocumentFieldPath) -> Bool {
    fixed.contains {
      $0.path == path && $0.claim == FieldEntries.Claim.value && !$0.value.isCut
    }
  }
}

/// The documents that a part of an index is about.
///
/// Index rows hold a reference, whose meaning depends on the scope: an id in a collection, a whole
/// path in a group.
struct DocumentScope {
  /// The number in the keys of the rows.
  let number: ScopeNumber
  /// The collection; `nil` for all nested collections of a group.
  let collection: CollectionPath?

  /// Returns the reference of a document in this scope; `nil` when the scope does not contain it.
  func reference(_ key: DocumentKey) -> [UInt8]? {
    guard let collection else { return DocumentReference.inGroup(key) }
    return collection.contains(key) ? DocumentReference.inCollection(key) : nil
  }

  /// The document of an index's row; `nil` when the row is damaged.
  func key(of row: Row, from start: Int) -> DocumentKey? {
    if !row.value.isEmpty {
      return DocumentKey(unchecked: String(decoding: row.value, as: UTF8.self))
    }
    return key(row.key, from: start)
  }

  /// The document whose reference begins at `start`.
  func key(_ bytes: [UInt8], from start: Int) -> DocumentKey? {
    guard let text = OrderedBytes.path(bytes.span, from: start) else { return nil }
    return DocumentKey(unchecked: collection.map { $0.text + "/" + text } ?? text)
  }
}

/// Tells the documents of one alternative of a query.
///
/// A query with several alternatives has one matcher for each. A document that matches two of them
/// comes out of both streams, and the merge drops the second.
struct BranchMatcher {
  /// Checks the whole query: filter, cursors and the presence of ordered fields.
  private let query: DocumentMatcher
  /// `nil` when the query has no other alternative.
  private let branch: DocumentMatcher?

  init(_ query: DocumentMatcher, _ branch: DocumentMatcher? = nil) {
    self.query = query
    self.branch = branch
  }

  /// Returns `true` if a document belongs to the result, and belongs to it by this alternative.
  ///
  /// A document that matches by another alternative may have another position in this one's order.
  func matches(_ document: Document) -> Bool {
    query.matches(document) && branch?.matches(document) ?? true
  }
}
