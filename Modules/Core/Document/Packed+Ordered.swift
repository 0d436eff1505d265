extension Packed {
  /// Appends the ordered bytes of the value at `offset` and moves behind it.
  ///
  /// The encoding begins with a byte for the type's rank, whose order is that of the types.
  static func appendOrdered(_ bytes: Span<UInt8>, _ offset: inout Int, to out: inout [UInt8]) {
    let tag = bytes[offset]
    out.append(OrderedBytes.firstByte(ofRank: tag >> 4))
    offset += 1
    switch tag {
    case Tag.null, Tag.no: break
    case Tag.yes: out[out.count - 1] += 1
    case Tag.integer..<Tag.double:
      appendOrdered(integer(bytes, &offset, size: Int(tag - Tag.integer)), to: &out)
    case Tag.double: appendOrdered(number: double(bytes, &offset), to: &out)
    case Tag.timestamp: appendTime(bytes, &offset, to: &out)
    case Tag.geoPoint:
      for _ in 0..<2 { OrderedBytes.appendBigEndian(ordered(double(bytes, &offset)), to: &out) }
    default:
      let size = count(bytes, &offset)
      let start = offset
      offset += size
      appendSized(tag, bytes, start..<offset, to: &out)
    }
  }

  /// Encodes texts with an escaped end, paths segment by segment, and containers element by element
  /// with an end that sorts below every element.
  private static func appendSized(
    _ tag: UInt8, _ bytes: Span<UInt8>, _ range: Range<Int>, to out: inout [UInt8]
  ) {
    var offset = range.lowerBound
    switch tag {
    case Tag.pending: appendTime(bytes, &offset, to: &out)
    case Tag.reference: OrderedBytes.append(path: bytes.extracting(range), to: &out)
    case Tag.array:
      while offset < range.upperBound { appendOrdered(bytes, &offset, to: &out) }
      out.append(OrderedBytes.end)
    case Tag.map:
      while offset < range.upperBound {
        let length = count(bytes, &offset)
        out.append(OrderedBytes.name)
        OrderedBytes.appendEscaped(bytes.extracting(offset..<offset + length), to: &out)
        offset += length
        appendOrdered(bytes, &offset, to: &out)
      }
      out.append(OrderedBytes.end)
    case Tag.vector:
      // The shorter vector comes first, whatever it holds.
      OrderedBytes.appendBigEndian(UInt64(range.count / 8), to: &out)
      while offset < range.upperBound {
        OrderedBytes.appendBigEndian(ordered(double(bytes, &offset)), to: &out)
      }
    default: OrderedBytes.appendEscaped(bytes.extracting(range), to: &out)
    }
  }

  private static func appendTime(
    _ bytes: Span<UInt8>, _ offset: inout Int, to out: inout [UInt8]
  ) {
    OrderedBytes.appendBigEndian(bits(bytes, &offset, size: 8) ^ 1 << 63, to: &out)
  }

  /// From here on doubles are whole and leave out integers.
  private static let sparse = 0x1p53

  /// Appends an integer: the double at or below it, and how far it is above that one.
  private static func appendOrdered(_ integer: Int64, to out: inout [UInt8]) {
    let floor = double(atOrBelow: integer)
    OrderedBytes.appendBigEndian(ordered(floor), to: &out)
    // Between two doubles lie fewer than 1,024 integers. Where none do, nothing is said.
    if abs(floor) >= sparse { appendRest(UInt16(integer - Int64(floor)), to: &out) }
  }

  /// Appends a double.
  ///
  /// A double of the magnitude at which integers need a rest has a rest of zero, so that both kinds
  /// stay comparable.
  private static func appendOrdered(number double: Double, to out: inout [UInt8]) {
    OrderedBytes.appendBigEndian(ordered(double), to: &out)
    if abs(double) >= sparse { appendRest(0, to: &out) }
  }

  private static func appendRest(_ rest: UInt16, to out: inout [UInt8]) {
    out.append(UInt8(rest >> 8))
    out.append(UInt8(truncatingIfNeeded: rest))
  }

  private static func double(atOrBelow integer: Int64) -> Double {
    let nearest = Double(integer)
    return integer.compareExactly(nearest) < 0 ? nearest.nextDown : nearest
  }

  /// Bits that sort as unsigned numbers like the doubles; what is not a number comes first.
  private static func ordered(_ double: Double) -> UInt64 {
    if double.isNaN { return 0 }
    let bits = double == 0 ? 0 : double.bitPattern
    return bits >> 63 == 1 ? ~bits : bits | 1 << 63
  }
}
