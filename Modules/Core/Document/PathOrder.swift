/// The order of paths of documents and collections: segment by segment, a prefix first.
///
/// A segment of the form `__id<number>__` sorts before all others, and such segments sort by
/// number; everything else sorts by its bytes. Source: documents reference, section 1.2.
package enum PathOrder {
  private static let slash = UInt8(ascii: "/")

  /// Negative, zero or positive as one path, segments joined by `/`, sorts before another.
  ///
  /// Only the segment that holds the first difference decides.
  package static func compare(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Int {
    let index = left.firstDifference(from: right)
    if index == left.count, index == right.count { return 0 }
    let start = segmentStart(of: left, before: index)
    if startsLikeNumber(left, start) || startsLikeNumber(right, start) {
      let order = compareNumbers(
        number(in: left, from: start), number(in: right, from: start))
      if order != 0 { return order }
    }
    return rank(left, index) - rank(right, index)
  }

  /// Returns true when a document lies directly in a collection.
  ///
  /// Both are texts of valid paths. The collection's path must be followed by one slash and one
  /// segment.
  package static func isChild(_ key: Span<UInt8>, of collection: Span<UInt8>) -> Bool {
    let count = collection.count
    guard key.count > count + 1, key[count] == slash,
      key.firstDifference(from: collection) == count
    else { return false }
    for index in count + 1..<key.count where key[index] == slash { return false }
    return true
  }

  /// Returns true when a document lies directly in some collection with an id.
  package static func isChild(_ key: Span<UInt8>, ofGroup id: Span<UInt8>) -> Bool {
    var end = key.count - 1
    while end >= 0, key[end] != slash { end -= 1 }
    let start = end - id.count
    guard start >= 0, start == 0 || key[start - 1] == slash else { return false }
    return key.extracting(start..<end).compareBytes(id) == 0
  }

  /// Returns true when a segment is a number imported from an older store.
  package static func isNumber(_ segment: String) -> Bool {
    segment.withSpan { number(in: $0, from: 0) != nil }
  }

  /// The end of a path sorts before the end of a segment, and that before any byte.
  private static func rank(_ path: Span<UInt8>, _ index: Int) -> Int {
    if index == path.count { return -2 }
    return path[index] == slash ? -1 : Int(path[index])
  }

  private static func segmentStart(of path: Span<UInt8>, before index: Int) -> Int {
    var start = index
    while start > 0, path[start - 1] != slash { start -= 1 }
    return start
  }

  private static func startsLikeNumber(_ path: Span<UInt8>, _ start: Int) -> Bool {
    start + 6 < path.count && path[start] == UInt8(ascii: "_")
      && path[start + 1] == UInt8(ascii: "_") && path[start + 2] == UInt8(ascii: "i")
      && path[start + 3] == UInt8(ascii: "d")
  }

  /// Returns the number in a segment `__id<number>__` that begins at `start`; `nil` for any other
  /// segment.
  static func number(in path: Span<UInt8>, from start: Int) -> Int64? {
    guard startsLikeNumber(path, start) else { return nil }
    var end = start
    while end < path.count, path[end] != slash { end += 1 }
    guard end - start > 6, path[end - 1] == UInt8(ascii: "_"), path[end - 2] == UInt8(ascii: "_")
    else { return nil }
    var digits: [UInt8] = []
    for index in start + 4..<end - 2 { digits.append(path[index]) }
    if digits.first == UInt8(ascii: "+") { return nil }
    return Int64(String(decoding: digits, as: UTF8.self))
  }

  private static func compareNumbers(_ left: Int64?, _ right: Int64?) -> Int {
    switch (left, right) {
    case (let left?, let right?): left == right ? 0 : (left < right ? -1 : 1)
    case (_?, nil): -1
    case (nil, _?): 1
    case (nil, nil): 0
    }
  }
}
