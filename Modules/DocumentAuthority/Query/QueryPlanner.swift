import TernCore
import TernQuery
import TernStorage

/// Chooses for each alternative of a query how its documents are found.
///
/// The choice is by rule, without statistics. A branch is served by the first of these that
/// applies: keys that it names; a join of its fixed values, when the order of the rest is that of
/// keys; a composite index; a race between the walk in the order and the join; the walk in the
/// order. The query's own result decides a race, so a wrong guess costs about twice the work.
/// Source: Docs/Formats/document-rows.md, section 3.
struct QueryPlanner {
  private let reading: DocumentReading
  private let query: DocumentQuery
  /// The matcher of the branch that is being planned.
  private var matcher: BranchMatcher
  /// The complete order, the key last.
  private let orders: [DocumentOrder]
  /// Compares documents by it.
  private let ordering: DocumentOrdering
  /// The most documents that will be asked for.
  private let needed: Int
  /// `true` to return documents in the query's order; `false` for any order.
  private let isOrdered: Bool
  /// The access paths chosen, as readable text.
  private(set) var choices: [String] = []
  /// The composite indexes that would have saved work.
  private(set) var wishes: [CompositeIndexCandidate] = []

  /// - Parameters:
  ///   - query: Without a limit from the end.
  ///   - needed: The most documents that will be asked for.
  ///   - isOrdered: Whether documents are wanted in the query's order, or in any.
  init(
    _ reading: DocumentReading, _ query: DocumentQuery, needed: Int, isOrdered: Bool = true
  ) {
    self.isOrdered = isOrdered
    self.reading = reading
    self.query = query
    self.needed = needed
    matcher = BranchMatcher(DocumentMatcher(query))
    orders = query.normalizedOrders
    ordering = DocumentOrdering(orders)
  }

  /// The memory of the documents that a stream keeps.
  private var memory: KeptMemory { KeptMemory(reading) }

  /// The documents that match, limit and offset aside, in the query's order.
  ///
  /// Planning reads the numbers of scopes and definitions of indexes, and no documents, except that
  /// named documents are looked up at once.
  mutating func stream() throws(StorageError) -> DocumentStream {
    if case .document(let key) = query.source {
      choices.append("document")
      return SourceStream(KeyLookup(reading, matcher, [key]), ordering, sortsGroups: false, memory)
    }
    if case .all(let parent, let isRecursive) = query.source {
      choices.append("all documents")
      let walk = DescendantWalk(
        reading, matcher, below: parent, isRecursive: isRecursive, from: leastKey)
      return SourceStream(walk, ordering, sortsGroups: false, memory)
    }
    var streams: [DocumentStream] = []
    let branches = QueryBranch.branches(of: query)
    let scopes = try scopes()
    for branch in branches {
      let part = branches.count > 1 ? DocumentMatcher(query.restricted(to: branch.filters)) : nil
      matcher = BranchMatcher(DocumentMatcher(query), part)
      for scope in scopes { streams.append(try stream(branch, scope)) }
    }
    if streams.count == 1 { return streams[0] }
    return isOrdered ? MergedStream(streams, ordering) : UnionStream(streams, KeptMemory(reading))
  }

  /// A key that no document of the result is before; `nil` when there is no such bound.
  ///
  /// Filters below an OR bound nothing.
  private var leastKey: DocumentKey? {
    var keys: [DocumentKey] = []
    if case .reference(let name)? = query.start?.values.first { keys.append(name.key) }
    for filter in query.filter.map({ $0.conjunction }) ?? [] where filter.path.isKey {
      switch filter.comparison {
      case .greaterThan, .greaterThanOrEqual, .equal:
        if case .reference(let name) = filter.operand { keys.append(name.key) }
      case .lessThan, .lessThanOrEqual, .notEqual, .in, .notIn, .arrayContains, .arrayContainsAny:
        break
      }
    }
    return keys.max()
  }

  /// The parts of the indexes that hold documents of the query.
  ///
  /// A group has two: the collection of that id at the root, which is a scope like every
  /// collection, and the nested ones, which share the scope of the group. A scope that has no
  /// number has no documents.
  private func scopes() throws(StorageError) -> [DocumentScope] {
    switch query.source {
    case .document, .all: return []
    case .collection(let path):
      guard let number = try reading.scope(of: path) else { return [] }
      return [DocumentScope(number: number, collection: path)]
    case .group(let id):
      var scopes: [DocumentScope] = []
      let top = CollectionPath(unchecked: id)
      if let number = try reading.scope(of: top) {
        scopes.append(DocumentScope(number: number, collection: top))
      }
      if let number = try reading.scope(ofGroup: id) {
        scopes.append(DocumentScope(number: number, collection: nil))
      }
      return scopes
    }
  }

  /// Chooses for one branch in one scope.
  private mutating func stream(
    _ branch: QueryBranch, _ scope: DocumentScope
  ) throws(StorageError) -> DocumentStream {
    if let keys = branch.keys { return try lookup(keys, scope) }
    // A field that has one value in all documents of the branch does not order them.
    let rest = orders.filter { !branch.fixes($0.path) }
    guard let first = rest.first, !first.path.isKey else {
      if !branch.fixed.isEmpty {
        return SourceStream(join(branch, scope, rest), ordering, sortsGroups: false, memory)
      }
      return try walk(branch, scope, rest)
    }
    // An index over the fixed values and the order has the documents in their place.
    if let stream = try composite(branch, scope, rest) { return stream }
    let key = [DocumentOrder.key(isDescending: orders.last?.isDescending ?? false)]
    if !isOrdered, !branch.fixed.isEmpty {
      return SourceStream(join(branch, scope, key), ordering, sortsGroups: false, memory)
    }
    let ordered = walk(over: first, branch, scope, rest)
    if branch.fixed.isEmpty {
      // A walk over the first field sorts its groups by the rest; an index would have them in
      // order.
      if rest.count > 2 { wish(for: branch, scope, rest) }
      return ordered
    }
    wish(for: branch, scope, rest)
    choices.append("or")
    return RacingStream(ordered, join(branch, scope, key), ordering, needed: needed, memory)
  }

  /// Looks the named documents up and sorts them. There are at most as many as a filter has values.
  private mutating func lookup(
    _ keys: [DocumentKey], _ scope: DocumentScope
  ) throws(StorageError) -> DocumentStream {
    choices.append("documents by key")
    // In a group each key is looked for where it lies.
    let own = keys.filter { key in
      scope.collection.map { $0.contains(key) } ?? (key.collection.parent != nil)
    }
    let ordering = ordering
    let found = try KeyLookup(reading, matcher, Array(Set(own))).all()
    return ListStream(found.sorted { ordering.compare($0, $1) < 0 })
  }

  /// The documents whose fields all have the values that the branch fixes, by key.
  ///
  /// - Parameter rest: The order without fixed fields; its first member gives the direction.
  /// - Returns: A source in the order of keys.
  private mutating func join(
    _ branch: QueryBranch, _ scope: DocumentScope, _ rest: [DocumentOrder]
  ) -> CandidateSource {
    let isReversed = rest.first?.isDescending ?? false
    var parts: [EntryJoin.Part] = []
    for fixed in branch.fixed {
      var prefix = reading.rows.key(.entry, scope.number)
      prefix += FieldEntries.field(fixed.path) + [fixed.claim] + fixed.value.bytes
      let space = KeySpace(
        prefix: prefix, fields: [], referenceLimit: reading.rows.referenceBytes, scope: scope,
        isReversed: isReversed)
      let ranges = space.ranges(
        branch, query, orders: orders.first?.path.isKey == true ? orders : nil)
      parts.append(.init(walk: EntryWalk(reading, ranges, isReversed: isReversed), prefix: prefix))
    }
    choices.append("join of " + branch.fixed.map { $0.path.text }.joined(separator: ", "))
    return EntryJoin(reading, parts, scope, matcher, isReversed: isReversed)
  }

  /// All documents of the scope by key, unless fields bound the result better.
  ///
  /// A bound on a field races the walk by key against a walk over that field's entries.
  private mutating func walk(
    _ branch: QueryBranch, _ scope: DocumentScope, _ rest: [DocumentOrder]
  ) throws(StorageError) -> DocumentStream {
    let isReversed = rest.first?.isDescending ?? false
    let isNested = scope.collection == nil
    var prefix = reading.rows.key(isNested ? .entry : .document, scope.number)
    if isNested { prefix += FieldEntries.keyField }
    let space = KeySpace(
      prefix: prefix, fields: [], referenceLimit: reading.rows.referenceBytes, scope: scope,
      isReversed: isReversed)
    let ranges = space.ranges(branch, query, orders: rest.count == orders.count ? orders : nil)
    let walk = EntryWalk(reading, ranges, isReversed: isReversed)
    choices.append("documents in order of keys")
    let keyed: CandidateSource =
      isNested
      ? EntrySource(reading, walk, scope, matcher, prefixCount: prefix.count)
      : CollectionWalk(walk, scope, matcher, prefixCount: prefix.count)
    let stream = SourceStream(keyed, ordering, sortsGroups: false, memory)
    guard let range = branch.ranges.first else { return stream }
    choices.append("or")
    let other = source(over: DocumentOrder(range.path), branch, scope, cursors: nil)
    return RacingStream(stream, other, ordering, needed: needed, memory)
  }

  /// The documents that have a field, in its order.
  ///
  /// - Parameters:
  ///   - first: The first field of the order that is not fixed.
  ///   - rest: The order from there on. With the key alone behind it, in the same direction, the
  ///     rows are in the query's order already.
  private mutating func walk(
    over first: DocumentOrder, _ branch: QueryBranch, _ scope: DocumentScope,
    _ rest: [DocumentOrder]
  ) -> SourceStream {
    let isExact = rest.count == 2 && rest[1].isDescending == first.isDescending
    let source = source(
      over: first, branch, scope, cursors: rest.count == orders.count ? orders : nil)
    return SourceStream(
      source, ordering, sortsGroups: isOrdered && !isExact,
      cutBytes: isOrdered ? IndexValue.limitBytes : .max, memory)
  }

  /// - Parameter cursors: The complete order when cursors bound these rows; `nil` when fixed fields
  ///   stand before them in the cursors.
  private mutating func source(
    over order: DocumentOrder, _ branch: QueryBranch, _ scope: DocumentScope,
    cursors: [DocumentOrder]?
  ) -> CandidateSource {
    let prefix =
      reading.rows.key(.entry, scope.number) + FieldEntries.field(order.path)
      + [FieldEntries.Claim.value]
    let space = KeySpace(
      prefix: prefix, fields: [(order.path, false)],
      referenceLimit: reading.rows.referenceBytes, scope: scope, isReversed: order.isDescending)
    let ranges = space.ranges(branch, query, orders: cursors)
    choices.append("values of \(order.path.text)")
    return EntrySource(
      reading, EntryWalk(reading, ranges, isReversed: order.isDescending), scope, matcher,
      prefixCount: prefix.count)
  }
}

extension DocumentFilter {
  /// The comparisons that all documents of the result meet.
  fileprivate var conjunction: [DocumentFieldFilter] {
    switch self {
    case .field(let filter): [filter]
    case .and(let members): members.flatMap(\.conjunction)
    case .or: []
    }
  }
}

extension DocumentOrder {
  static func key(isDescending: Bool) -> DocumentOrder {
    DocumentOrder(.key, isDescending: isDescending)
  }
}

// MARK: - Indexes over several fields

/// An index over several fields that a query would be served by.
///
/// ``DocumentAuthority/indexes(worth:in:)`` makes it when the query has read much more than it
/// returned.
package struct CompositeIndexCandidate: Hashable, Sendable {
  let scope: ScopeNumber
  /// The fields: the fixed ones by path, then those of the order.
  let segments: [CompositeIndex.Segment]
}

extension QueryPlanner {
  /// The index that has a branch's documents in order, one behind the other.
  ///
  /// - Returns: `nil` when one field is enough, or when the order does not end with the key.
  private func segments(
    _ branch: QueryBranch, _ rest: [DocumentOrder]
  ) -> [CompositeIndex.Segment]? {
    let fixed = fixedPaths(branch)
    let sorted = rest.filter { !$0.path.isKey }
    guard fixed.count + sorted.count > 1, rest.last?.path.isKey == true else { return nil }
    // Walked backwards when keys descend, so that one index serves both directions.
    let isReversed = rest.last?.isDescending ?? false
    return fixed.map { .init(path: $0, isDescending: false) }
      + sorted.map { .init(path: $0.path, isDescending: $0.isDescending != isReversed) }
  }

  /// Returns the fields of a composite index that have one value. Elements of arrays are not among
  /// them: such an index has values of fields alone.
  private func fixedPaths(_ branch: QueryBranch) -> [DocumentFieldPath] {
    DocumentFieldMask(
      branch.fixed.filter { $0.claim == FieldEntries.Claim.value }.map(\.path)
    ).paths
  }

  /// Notes the index that would serve the branch.
  private mutating func wish(
    for branch: QueryBranch, _ scope: DocumentScope, _ rest: [DocumentOrder]
  ) {
    if let segments = segments(branch, rest) {
      wishes.append(CompositeIndexCandidate(scope: scope.number, segments: segments))
    }
  }

  /// - Returns: `nil` when there is no such index, when it is still being built, or when a fixed
  ///   value is too long for its rows.
  private mutating func composite(
    _ branch: QueryBranch, _ scope: DocumentScope, _ rest: [DocumentOrder]
  ) throws(StorageError) -> DocumentStream? {
    guard let segments = segments(branch, rest),
      let index = try reading.composites(of: scope.number).first(where: {
        $0.segments == segments && $0.builtUpTo == nil
      })
    else { return nil }
    var prefix = reading.rows.key(.composite, index.number)
    for path in fixedPaths(branch) {
      guard let fixed = branch.fixed.first(where: { $0.path == path }),
        fixed.value.bytes.count <= IndexValue.limitBytes / segments.count
      else { return nil }
      prefix += fixed.value.bytes
    }
    let isReversed = rest.last?.isDescending ?? false
    let fields = segments.dropFirst(fixedPaths(branch).count)
    let space = KeySpace(
      prefix: prefix, fields: fields.map { ($0.path, $0.isDescending) },
      valueLimit: IndexValue.limitBytes / segments.count,
      referenceLimit: reading.rows.referenceBytes, scope: scope, isReversed: isReversed)
    let ranges = space.ranges(
      branch, query, orders: rest.count == orders.count ? orders : nil)
    choices.append("index over " + segments.map(\.path.text).joined(separator: ", "))
    let source = EntrySource(
      reading, EntryWalk(reading, ranges, isReversed: isReversed), scope, matcher,
      prefixCount: prefix.count)
    // Where a value was cut nothing follows it, and its group is to be sorted.
    return SourceStream(
      source, ordering, sortsGroups: false, cutBytes: IndexValue.limitBytes / segments.count, memory
    )
  }
}
