import TernCore
import TernQuery
import TernStorage

/// Chooses for each alternative of a query how its documents are found.
struct QueryPlanner {
  private let reading: DocumentReading
  private let query: DocumentQuery
  private var matcher: BranchMatcher
  private let orders: [DocumentOrder]
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
    return isOrdered ? MergedStream(streams, ordering) : UnionStream(streams)
  }

  /// A key that no document of the result is before; `nil` when there is no such bound.
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

  private mutating func stream(
    _ branch: QueryBranch, _ scope: DocumentScope
  ) throws(StorageError) -> DocumentStream {
    if let keys = branch.keys { return try lookup(keys, scope) }
    let rest = orders.filter { !branch.fixes($0.path) }
    guard let first = rest.first, !first.path.isKey else {
      if !branch.fixed.isEmpty {
        return SourceStream(join(branch, scope, rest), ordering, sortsGroups: false, memory)
      }
      return try walk(branch, scope, rest)
    }
    if let stream = try composite(branch, scope, rest) { return stream }
    let key = [DocumentOrder.key(isDescending: orders.last?.isDescending ?? false)]
    if !isOrdered, !branch.fixed.isEmpty {
      return SourceStream(join(branch, scope, key), ordering, sortsGroups: false, memory)
    }
    let ordered = walk(over: first, branch, scope, rest)
    if branch.fixed.isEmpty {
      if rest.count > 2 { wish(for: branch, scope, rest) }
      return ordered
    }
    wish(for: branch, scope, rest)
    choices.append("or")
    return RacingStream(ordered, join(branch, scope, key), ordering, needed: needed, memory)
  }

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
package struct CompositeIndexCandidate: Hashable, Sendable {
  let scope: ScopeNumber
  let segments: [CompositeIndex.Segment]
}

extension QueryPlanner {
  /// The index that has a branch's documents in order, one behind the other.
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

  private func fixedPaths(_ branch: QueryBranch) -> [DocumentFieldPath] {
    DocumentFieldMask(
      branch.fixed.filter { $0.claim == FieldEntries.Claim.value }.map(\.path)
    ).paths
  }

  private mutating func wish(
    for branch: QueryBranch, _ scope: DocumentScope, _ rest: [DocumentOrder]
  ) {
    if let segments = segments(branch, rest) {
      wishes.append(CompositeIndexCandidate(scope: scope.number, segments: segments))
    }
  }

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
