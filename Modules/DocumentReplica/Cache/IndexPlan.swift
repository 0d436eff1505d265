import TernCore
import TernQuery
import TernStorage

/// One walk over a part of an index that meets every document of one alternative of a query.
///
/// Source: documents reference, section 5.11.
///
/// An entry's key is the index, the collection, the values of the fields, and the id. A plan fixes
/// the first fields by equality, bounds the next one by inequalities and cursors, and leaves the
/// others to the order. The walk therefore covers one range for each collection and each element
/// looked for.
struct IndexPlan: Sendable {
  let state: IndexState
  /// The prefixes of the entries after the collection, one for each element to find.
  private(set) var starts: [[UInt8]] = [[]]
  /// The bounds of the entries after each prefix.
  private(set) var lower: [UInt8] = []
  private(set) var upper: [UInt8]?
  /// `true` if the entries are in the query's order, so that a limit ends the walk.
  private(set) var isOrdered = false
  /// `true` if the walk reads the index backward.
  private(set) var isReversed = false
  /// `true` if entries that are equal in that order are also in key order.
  private(set) var isExact = true
  /// The number of fields compared for equality.
  private var fixed = 0
  private var isBounded = false

  /// Plans the walk.
  ///
  /// - Parameters:
  ///   - filters: The comparisons of one alternative, all of which must hold.
  ///   - query: Gives orders, cursors and the limit.
  /// - Returns: `nil` when the index would miss documents, or not save anything.
  init?(
    _ state: IndexState, for filters: [DocumentFieldFilter], of query: DocumentQuery
  ) {
    self.state = state
    var segments = state.index.segments[...]
    guard fixElements(&segments, filters) else { return nil }
    let equalities = filters.filter { $0.comparison == .equal && !$0.path.isKey }
    var fixedPaths: [DocumentFieldPath] = []
    while let segment = segments.first,
      let filter = equalities.first(where: { $0.path == segment.path })
    {
      fix(PackedValue(filter.operand), segment)
      fixedPaths.append(segment.path)
      segments.removeFirst()
    }
    let orders = query.normalizedOrders.filter { !$0.path.isKey && !fixedPaths.contains($0.path) }
    guard follow(orders, segments) else { return nil }
    bound(segments, filters, query, fixedPaths)
    isExact = isReversed == query.normalizedOrders.last?.isDescending
    if query.limit?.side == .last { isReversed.toggle() }
    if fixed == 0, !isBounded, !(isOrdered && query.limit != nil) { return nil }
  }

  /// Returns `true` if this walk is better: by fixed fields, then by order, then by bounds.
  func isBetter(than other: IndexPlan) -> Bool {
    let own = (fixed, isOrdered ? 1 : 0, isBounded ? 1 : 0, state.index.segments.count)
    let others = (
      other.fixed, other.isOrdered ? 1 : 0, other.isBounded ? 1 : 0,
      other.state.index.segments.count
    )
    return own > others
  }

  /// Fixes the elements that an array must contain, if the index is over elements.
  ///
  /// - Returns: False when the index is over elements and the alternative looks for none: a
  ///   document without that array has no entry.
  private mutating func fixElements(
    _ segments: inout ArraySlice<DocumentIndex.Segment>, _ filters: [DocumentFieldFilter]
  ) -> Bool {
    guard let segment = segments.first, segment.kind == .contains else { return true }
    let filter = filters.first {
      ($0.comparison == .arrayContains || $0.comparison == .arrayContainsAny)
        && $0.path == segment.path
    }
    guard let filter else { return false }
    var elements: Set<[UInt8]> = []
    for value in filter.alternatives {
      var bytes: [UInt8] = []
      OrderedBytes.append(value, to: &bytes)
      _ = state.cut(&bytes, from: 0)
      elements.insert(bytes)
    }
    starts = elements.sorted(by: bytesPrecede)
    fixed += 1
    segments.removeFirst()
    return true
  }

  /// Fixes the next field to one value.
  ///
  /// Values are cut as entries cut them, so that a long value still finds its entries, among others
  /// with the same beginning.
  private mutating func fix(_ value: PackedValue, _ segment: DocumentIndex.Segment) {
    for index in starts.indices {
      let start = starts[index].count
      OrderedBytes.append(
        value, isDescending: segment.kind == .descending, to: &starts[index])
      _ = state.cut(&starts[index], from: start)
    }
    fixed += 1
  }

  /// Returns `true` if the remaining fields are the first fields of the order, or of its reverse.
  private mutating func follow(
    _ orders: [DocumentOrder], _ segments: ArraySlice<DocumentIndex.Segment>
  ) -> Bool {
    guard segments.count <= orders.count else { return false }
    for (position, (segment, order)) in zip(segments, orders).enumerated() {
      guard segment.path == order.path else { return false }
      let isOpposite = (segment.kind == .descending) != order.isDescending
      if position == 0 { isReversed = isOpposite }
      if isOpposite != isReversed { return false }
    }
    isOrdered = segments.count == orders.count
    return true
  }
}

// MARK: Bounds

extension IndexPlan {
  private mutating func bound(
    _ segments: ArraySlice<DocumentIndex.Segment>, _ filters: [DocumentFieldFilter],
    _ query: DocumentQuery, _ fixedPaths: [DocumentFieldPath]
  ) {
    guard let first = segments.first else {
      // Only the key is left to sort by; entries end with it.
      isReversed = query.normalizedOrders.last?.isDescending ?? false
      return
    }
    for filter in filters where filter.path == first.path { bound(first, filter) }
    // A cursor's values stand for the query's own order, which has to begin with these fields.
    let orders = query.normalizedOrders
    guard orders.first?.path == first.path else { return }
    if let start = query.start { bound(segments, orders, start, isStart: true) }
    if let end = query.end { bound(segments, orders, end, isStart: false) }
  }

  /// Bounds the first field that is not fixed by one comparison.
  ///
  /// A comparison only selects values of its operand's type, so one bound is the operand and the
  /// other the end of the type.
  private mutating func bound(
    _ segment: DocumentIndex.Segment, _ filter: DocumentFieldFilter
  ) {
    let operand = PackedValue(filter.operand)
    let first = OrderedBytes.firstByte(ofRank: operand.rank)
    var value: [UInt8] = []
    OrderedBytes.append(operand, to: &value)
    _ = state.cut(&value, from: 0)
    let isDescending = segment.kind == .descending
    switch filter.comparison {
    case .greaterThan, .greaterThanOrEqual:
      raise(value, isDescending)
      sink([first | 0x0F], isDescending)
    case .lessThan, .lessThanOrEqual:
      raise([first], isDescending)
      sink(value, isDescending)
    case .notEqual, .notIn: raise([OrderedBytes.firstByte(ofRank: 1)], isDescending)
    case .equal, .in, .arrayContains, .arrayContainsAny: break
    }
  }

  /// Values begin at a prefix of their ascending bytes, or after it.
  private mutating func raise(_ prefix: [UInt8], _ isDescending: Bool) {
    if isDescending { setUpper(after: prefix.map(~)) } else { setLower(prefix) }
  }

  /// Values end with what begins with a prefix of their ascending bytes.
  private mutating func sink(_ prefix: [UInt8], _ isDescending: Bool) {
    if isDescending { setLower(prefix.map(~)) } else { setUpper(after: prefix) }
  }

  private mutating func bound(
    _ segments: ArraySlice<DocumentIndex.Segment>, _ orders: [DocumentOrder],
    _ cursor: DocumentCursor, isStart: Bool
  ) {
    var prefix: [UInt8] = []
    for ((segment, order), value) in zip(zip(segments, orders), cursor.values) {
      guard segment.path == order.path else { break }
      let start = prefix.count
      OrderedBytes.append(value, isDescending: segment.kind == .descending, to: &prefix)
      // Behind a value that was cut the order is not the query's.
      if state.cut(&prefix, from: start) { break }
    }
    if prefix.isEmpty { return }
    if isStart != isReversed { setLower(prefix) } else { setUpper(after: prefix) }
  }

  private mutating func setLower(_ bytes: [UInt8]) {
    isBounded = true
    if bytesPrecede(lower, bytes) { lower = bytes }
  }

  private mutating func setUpper(after prefix: [UInt8]) {
    isBounded = true
    guard let bytes = KeyRange.successor(ofPrefix: prefix) else { return }
    if let upper, !bytesPrecede(bytes, upper) { return }
    upper = bytes
  }

  /// The entries to walk over, for one start in one collection.
  func range(_ start: [UInt8], _ collection: UInt64, _ keys: DocumentCacheKeys) -> KeyRange {
    let prefix = keys.entries(state.number, collection) + start
    return KeyRange(
      from: prefix + lower,
      to: upper.map { prefix + $0 } ?? KeyRange.successor(ofPrefix: prefix))
  }
}
