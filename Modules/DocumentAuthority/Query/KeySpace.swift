import TernCore
import TernQuery
import TernStorage

/// The rows of one index between whose beginnings and references lie the values of some fields,
/// and which of them a query can be looking for.
///
/// A row is `prefix`, the values of `fields`, a reference, and its end. Ranges over these bytes
/// narrow what a walk reads. They may be too wide, never too narrow, because every document is
/// checked afterwards: whatever cannot be expressed exactly is left out.
struct KeySpace {
  /// The prefix of the rows.
  let prefix: [UInt8]
  /// The fields whose values follow, each with the direction of its bytes.
  ///
  /// Empty for rows in which the reference follows the prefix.
  let fields: [(path: DocumentFieldPath, isDescending: Bool)]
  /// The most bytes of a value that the rows hold.
  var valueLimit = IndexValue.limitBytes
  /// The most bytes of a document reference in the rows; see ``DocumentRows/referenceBytes``.
  let referenceLimit: Int
  /// The scope of the documents, for their references.
  let scope: DocumentScope
  /// `true` for a walk from the greatest row down.
  let isReversed: Bool

  /// The ranges to be walked, in the order of the walk.
  ///
  /// - Parameters:
  ///   - branch: What bounds the first field, or the key when there are no fields.
  ///   - orders: The orders that fields and reference stand for; `nil` when cursors say nothing
  ///     about these rows.
  func ranges(
    _ branch: QueryBranch, _ query: DocumentQuery, orders: [DocumentOrder]?
  ) -> [KeyRange] {
    var ranges = [KeyRange(prefix: prefix)]
    if let first = fields.first {
      ranges = intervals(branch.ranges.filter { $0.path == first.path }).map { interval in
        first.isDescending ? absolute(interval.complemented) : absolute(interval)
      }
    } else {
      for filter in branch.keyRanges { ranges = ranges.map { bounded($0, by: filter) } }
    }
    if let orders {
      // A walk backwards begins where the rows end.
      let (lower, upper) = isReversed ? (query.end, query.start) : (query.start, query.end)
      let first = lower.flatMap { bytes($0, orders) }
      let last = upper.flatMap { bytes($0, orders) }
      ranges = ranges.map { $0.intersection(from: first, through: last) }
    }
    ranges = ranges.filter { !$0.isEmpty }.sorted { bytesPrecede($0.lower, $1.lower) }
    return isReversed ? ranges.reversed() : ranges
  }

  /// Turns an interval of values into a range of whole rows.
  private func absolute(_ interval: ByteInterval) -> KeyRange {
    let whole = KeyRange(prefix: prefix)
    return KeyRange(
      from: prefix + interval.lower, to: interval.upper.map { prefix + $0 } ?? whole.upper)
  }

  /// Returns the start of the rows at a cursor, as far as values and reference are known.
  ///
  /// - Returns: `nil` when not even the first value helps: the rows are not bounded then.
  private func bytes(_ cursor: DocumentCursor, _ orders: [DocumentOrder]) -> [UInt8]? {
    var bytes = prefix
    for (index, value) in cursor.values.enumerated() {
      if index < fields.count {
        let packed = IndexValue(value)
        // What was cut in rows is cut somewhere before the end of the value.
        if packed.bytes.count >= valueLimit { break }
        OrderedBytes.append(value, isDescending: fields[index].isDescending, to: &bytes)
      } else {
        // The reference ascends in the rows. It bounds a walk only in the direction of the order,
        // and only whole.
        guard index < orders.count, orders[index].path.isKey,
          orders[index].isDescending == isReversed, case .reference(let name) = value,
          let reference = scope.reference(name.key),
          reference.count <= referenceLimit
        else { break }
        bytes += reference
      }
    }
    return bytes.count > prefix.count ? bytes : nil
  }

  /// Narrows a range by a comparison of the key.
  private func bounded(_ range: KeyRange, by filter: DocumentFieldFilter) -> KeyRange {
    guard case .reference(let name) = filter.operand, let reference = scope.reference(name.key),
      reference.count <= referenceLimit
    else { return range }
    switch filter.comparison {
    case .lessThan, .lessThanOrEqual:
      return range.intersection(from: nil, through: prefix + reference)
    case .greaterThan, .greaterThanOrEqual:
      return range.intersection(from: prefix + reference, through: nil)
    case .equal, .notEqual, .in, .notIn, .arrayContains, .arrayContainsAny: return range
    }
  }

  /// Returns the intervals of a field's values that the filters admit, ascending.
  ///
  /// - Parameter filters: All of them are about the first field of the rows.
  private func intervals(_ filters: [DocumentFieldFilter]) -> [ByteInterval] {
    // A type has a range of first bytes, so a comparison with a number excludes texts, as queries
    // demand.
    let all = OrderedBytes.firstByte(ofRank: 0)..<OrderedBytes.firstByte(ofRank: 12)
    var intervals = [ByteInterval(lower: [all.lowerBound], upper: [all.upperBound])]
    for filter in filters {
      for part in KeySpace.exclusions(filter, limitBytes: valueLimit) {
        intervals = intervals.flatMap { $0.subtracting(part) }
      }
    }
    return intervals
  }

  /// The values that cannot satisfy a filter, as far as indexes can tell.
  ///
  /// A comparison matches values of the operand's type alone; a negation matches every value except
  /// null.
  private static func exclusions(
    _ filter: DocumentFieldFilter, limitBytes: Int
  ) -> [ByteInterval] {
    let rank = PackedValue(filter.operand).rank
    let first = [OrderedBytes.firstByte(ofRank: rank)]
    let next = [OrderedBytes.firstByte(ofRank: rank + 1)]
    let below = ByteInterval(lower: [], upper: first)
    let above = ByteInterval(lower: next, upper: nil)
    let value = IndexValue(filter.operand)
    let isWhole = value.bytes.count < limitBytes
    let bytes = isWhole ? value.bytes : Array(value.bytes.prefix(limitBytes))
    switch filter.comparison {
    case .lessThan, .lessThanOrEqual:
      // The bound is inclusive in both cases: an equal value that does not match is passed by the
      // matcher.
      let end = KeyRange.successor(ofPrefix: bytes)
      return [below, ByteInterval(lower: end ?? next, upper: nil)]
    case .greaterThan, .greaterThanOrEqual:
      return [ByteInterval(lower: [], upper: bytes), above]
    case .notEqual, .notIn:
      let null = ByteInterval(lower: [], upper: [OrderedBytes.firstByte(ofRank: 1)])
      return [null]
        + filter.alternatives.map { IndexValue($0) }.filter { $0.bytes.count < limitBytes }
        .map { ByteInterval(lower: $0.bytes, upper: KeyRange.successor(ofPrefix: $0.bytes)) }
    case .equal, .in, .arrayContains, .arrayContainsAny: return []
    }
  }
}

/// Byte strings from `lower` up to, not including, `upper`; to the end when that is `nil`.
///
/// An interval with an upper bound at or below the lower one holds nothing.
struct ByteInterval: Equatable {
  let lower: [UInt8]
  let upper: [UInt8]?

  /// The complements of the byte strings that begin with a whole value in the interval.
  ///
  /// The rows of a descending field hold the complements, whose order is reversed.
  var complemented: ByteInterval {
    ByteInterval(
      lower: (upper ?? []).map { ~$0 },
      upper: lower.isEmpty ? nil : KeyRange.successor(ofPrefix: lower.map { ~$0 }))
  }

  /// Returns the parts outside another interval: at most two.
  ///
  /// - Returns: Parts in ascending order; none when the other covers the whole.
  func subtracting(_ other: ByteInterval) -> [ByteInterval] {
    let before = ByteInterval(lower: lower, upper: ByteInterval.least(upper, other.lower))
    var parts = [before]
    if let end = other.upper {
      parts.append(
        ByteInterval(lower: bytesPrecede(lower, end) ? end : lower, upper: upper))
    }
    return parts.filter { part in part.upper.map { bytesPrecede(part.lower, $0) } ?? true }
  }

  private static func least(_ upper: [UInt8]?, _ other: [UInt8]) -> [UInt8] {
    guard let upper else { return other }
    return bytesPrecede(upper, other) ? upper : other
  }
}

extension KeyRange {
  /// The part between rows that begin with `first` and those that begin with `last`, inclusive.
  ///
  /// - Parameters:
  ///   - first: The beginning of the first rows; `nil` for no bound.
  ///   - last: The beginning of the last rows, which are included with all that extends it.
  func intersection(from first: [UInt8]?, through last: [UInt8]?) -> KeyRange {
    var range = self
    if let first, bytesPrecede(range.lower, first) { range.lower = first }
    if let last, let end = KeyRange.successor(ofPrefix: last) {
      if let upper = range.upper, bytesPrecede(upper, end) { return range }
      range.upper = end
    }
    return range
  }
}
