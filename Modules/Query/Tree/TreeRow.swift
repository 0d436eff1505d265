package import TernCore

/// One child with what it is sorted by.
///
/// It computes the sort value once, because sorting compares each child many times.
package struct TreeRow: Sendable {
  /// Sorts before every row whose prefix is larger; equal prefixes say nothing.
  package let prefix: UInt64
  package let value: TreeSortValue
  package let element: ChildMap.Element

  package var key: TreeKey { element.key }

  package init(_ element: ChildMap.Element, _ order: TreeOrder) {
    self.element = element
    value = order.sortValue(of: element.node)
    prefix = value.prefix
  }

  /// Negative, zero or positive as this row sorts before, with or after `other`.
  package func compare(_ other: TreeRow) -> Int {
    if prefix != other.prefix { return prefix < other.prefix ? -1 : 1 }
    let order = value.compare(other.value)
    return order != 0 ? order : key.compare(other.key)
  }

  /// Returns true when this row sorts before `other`.
  package func precedes(_ other: TreeRow) -> Bool { compare(other) < 0 }

  /// Sorts rows into query order; their keys ascend already.
  ///
  /// Sorts indices with their prefixes, which moves less memory than rows. Ties keep the order of
  /// the input, which is that of the keys.
  package static func sorted(_ rows: [TreeRow]) -> [TreeRow] {
    var places = rows.indices.map { (prefix: rows[$0].prefix, index: $0) }
    places.sort { left, right in
      if left.prefix != right.prefix { return left.prefix < right.prefix }
      let order = rows[left.index].value.compare(rows[right.index].value)
      return order != 0 ? order < 0 : left.index < right.index
    }
    return places.map { rows[$0.index] }
  }
}

extension TreeSortValue {
  /// The rank and the first bits of the value, so that most comparisons are one of integers.
  ///
  /// The top three bits are the rank; a value that sorts before another never has the larger
  /// prefix.
  var prefix: UInt64 {
    switch self {
    case .empty, .scalar(.serverValue): 0
    case .scalar(.bool(let value)): 1 << 61 | (value ? 1 : 0)
    case .scalar(.integer(let value)): TreeSortValue.prefix(of: Double(value))
    case .scalar(.double(let value)): TreeSortValue.prefix(of: value)
    case .scalar(.string(let text)): 3 << 61 | text.sortingPrefix
    case .children: 4 << 61
    }
  }

  /// Turns IEEE order into unsigned order, and drops the lowest bits for the rank.
  private static func prefix(of number: Double) -> UInt64 {
    let bits = (number + 0).bitPattern
    let ordered = bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    return 2 << 61 | ordered >> 3
  }
}
