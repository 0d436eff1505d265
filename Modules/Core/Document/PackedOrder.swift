/// The order of packed values, across all types.
///
/// Values of different types compare by the high halves of their tags alone. Nothing is allocated.
package enum PackedOrder {
  private typealias Tag = Packed.Tag

  /// Negative, zero or positive as the value at `i` sorts before, with or after the one at `j`.
  ///
  /// Both offsets are behind the values when the answer is zero, anywhere else otherwise.
  /// Source: documents reference, section 1.5.
  package static func compare(
    _ a: Span<UInt8>, _ i: inout Int, _ b: Span<UInt8>, _ j: inout Int
  ) -> Int {
    let (left, right) = (a[i], b[j])
    if left >> 4 != right >> 4 { return left >> 4 < right >> 4 ? -1 : 1 }
    i += 1
    j += 1
    switch left {
    case Tag.null: return 0
    case Tag.no, Tag.yes: return Int(left) - Int(right)
    case Tag.integer...Tag.double: return compareNumbers(left, a, &i, right, b, &j)
    case Tag.timestamp:
      return order(Packed.integer(a, &i, size: 8), Packed.integer(b, &j, size: 8))
    case Tag.geoPoint:
      let latitudes = compareDoubles(Packed.double(a, &i), Packed.double(b, &j))
      return latitudes != 0 ? latitudes : compareDoubles(Packed.double(a, &i), Packed.double(b, &j))
    default:
      let (m, n) = (Packed.count(a, &i), Packed.count(b, &j))
      defer {
        i += m
        j += n
      }
      return compareSized(
        left, a.extracting(i..<i + m), b.extracting(j..<j + n))
    }
  }

  /// Compares two values of one type that have a count in front; the spans are their contents.
  private static func compareSized(_ tag: UInt8, _ a: Span<UInt8>, _ b: Span<UInt8>) -> Int {
    switch tag {
    case Tag.reference: return PathOrder.compare(a, b)
    case Tag.array: return compareElements(a, b)
    case Tag.map: return compareEntries(a, b)
    case Tag.vector:
      if a.count != b.count { return a.count - b.count }
      for offset in stride(from: 0, to: a.count, by: 8) {
        var (i, j) = (offset, offset)
        let result = compareDoubles(Packed.double(a, &i), Packed.double(b, &j))
        if result != 0 { return result }
      }
      return 0
    case Tag.pending:
      var (i, j) = (0, 0)
      return order(Packed.integer(a, &i, size: 8), Packed.integer(b, &j, size: 8))
    default: return a.compareBytes(b)
    }
  }

  /// Compares element by element; of two arrays with a common beginning the shorter one sorts
  /// first.
  private static func compareElements(_ a: Span<UInt8>, _ b: Span<UInt8>) -> Int {
    var (i, j) = (0, 0)
    while i < a.count, j < b.count {
      let result = compare(a, &i, b, &j)
      if result != 0 { return result }
    }
    return (a.count - i).signum() - (b.count - j).signum()
  }

  /// Compares field by field, names before values; a map that ends sorts first.
  private static func compareEntries(_ a: Span<UInt8>, _ b: Span<UInt8>) -> Int {
    var (i, j) = (0, 0)
    while i < a.count, j < b.count {
      let (m, n) = (Packed.count(a, &i), Packed.count(b, &j))
      let names = a.extracting(i..<i + m).compareBytes(b.extracting(j..<j + n))
      if names != 0 { return names }
      i += m
      j += n
      let result = compare(a, &i, b, &j)
      if result != 0 { return result }
    }
    return (a.count - i).signum() - (b.count - j).signum()
  }

  /// Compares integers and doubles exactly, without converting large integers.
  private static func compareNumbers(
    _ left: UInt8, _ a: Span<UInt8>, _ i: inout Int,
    _ right: UInt8, _ b: Span<UInt8>, _ j: inout Int
  ) -> Int {
    switch (left == Tag.double, right == Tag.double) {
    case (true, true): return compareDoubles(Packed.double(a, &i), Packed.double(b, &j))
    case (false, false):
      return order(
        Packed.integer(a, &i, size: Int(left - Tag.integer)),
        Packed.integer(b, &j, size: Int(right - Tag.integer)))
    case (false, true):
      let integer = Packed.integer(a, &i, size: Int(left - Tag.integer))
      return integer.compareExactly(Packed.double(b, &j))
    case (true, false):
      let double = Packed.double(a, &i)
      return -Packed.integer(b, &j, size: Int(right - Tag.integer)).compareExactly(double)
    }
  }

  /// Compares two numbers. NaN sorts first and equals itself.
  static func compareDoubles(_ left: Double, _ right: Double) -> Int {
    if left < right { return -1 }
    if left > right { return 1 }
    if left == right { return 0 }
    return left.isNaN ? (right.isNaN ? 0 : -1) : 1
  }

  private static func order(_ left: Int64, _ right: Int64) -> Int {
    left == right ? 0 : (left < right ? -1 : 1)
  }
}
