import TernCore

/// `Value` and what lies in it, straight into packed bytes. Source: documents reference, sections
/// 1.4 and 6.2.
extension ProtoReader {
  /// Reads a whole `Value`.
  ///
  /// The fields of `Value`, of which exactly one is set: 1 boolean, 2 integer, 3 double, 5
  /// reference, 6 map, 8 geo point, 9 array, 10 timestamp, 11 null, 17 text, 18 bytes. 19 to 22
  /// belong to pipelines.
  ///
  /// - Throws: ``DocumentWireError/malformed(_:)`` for none or several,
  ///   ``DocumentWireError/document(_:)`` for a time or place out of range and for a name that is
  ///   none, ``DocumentWireError/member(_:)`` for an expression.
  mutating func value(into builder: inout PackedBuilder) throws(DocumentWireError) {
    guard let field = try nextValueField(&self) else { throw .malformed(.untypedValue) }
    switch field {
    case 1: builder.append(try bool())
    case 2: builder.append(try int64())
    case 3: builder.append(try double())
    case 5: try reference(into: &builder)
    case 6:
      var map = try message()
      try map.map(1, into: &builder)
    case 8: builder.append(try geoPoint())
    case 9:
      var array = try message()
      try array.array(into: &builder)
    case 10: builder.append(try timestamp())
    case 11:
      // The enum NULL_VALUE has one member; any number stands for it.
      _ = try varint()
      builder.appendNull()
    case 17:
      let range = try text()
      builder.append(text: bytes.span.extracting(range))
    case 18:
      let range = try range()
      builder.append(bytes: bytes.span.extracting(range))
    case 19...22: throw .member("an expression is no value that can be stored")
    default: throw .malformed(.untypedValue)
    }
    if try next() != nil { throw .malformed(.untypedValue) }
  }

  /// Reads a `Value` to be looked at by itself.
  mutating func value() throws(DocumentWireError) -> DocumentValue {
    var builder = PackedBuilder()
    try value(into: &builder)
    return builder.value
  }

  /// Reads the entries of a map whose field has this number, and nothing else.
  ///
  /// `MapValue` and `AggregationResult` have the same form under different numbers.
  mutating func map(
    _ number: Int, into builder: inout PackedBuilder
  ) throws(DocumentWireError) {
    let mark = builder.begin()
    var fields: [PackedBuilder.Field] = []
    while let field = try next() {
      if field == number {
        let rest = try enter()
        try entry(into: &builder, &fields)
        leave(for: rest)
      } else {
        try skip()
      }
    }
    builder.endMap(mark, fields)
  }

  /// Reads one entry of a map of values, and moves to its end: 1 is the name, 2 the value.
  ///
  /// A name without a value is an error; a value without a name has the empty name. The name may
  /// follow the value, so the value is remembered as a range.
  mutating func entry(
    into builder: inout PackedBuilder, _ fields: inout [PackedBuilder.Field]
  ) throws(DocumentWireError) {
    var name = 0..<0
    var value: Range<Int>?
    while let field = try next() {
      switch field {
      case 1: name = try text()
      case 2: value = try range()
      default: try skip()
      }
    }
    guard let value else { throw .malformed(.untypedValue) }
    var packed = builder.beginField(bytes.span.extracting(name))
    // There is no way back from here: the caller holds the rest of its message.
    try enter(value)
    try self.value(into: &builder)
    builder.endField(&packed)
    fields.append(packed)
  }

  /// Reads an `ArrayValue` to its end: 1 is an element.
  private mutating func array(into builder: inout PackedBuilder) throws(DocumentWireError) {
    let mark = builder.begin()
    while let field = try next() {
      if field == 1 {
        var element = try message()
        try element.value(into: &builder)
      } else {
        try skip()
      }
    }
    builder.endArray(mark)
  }

  /// Reads an `ArrayValue` to be looked at by itself.
  mutating func values() throws(DocumentWireError) -> [DocumentValue] {
    var values: [DocumentValue] = []
    while let field = try next() {
      if field == 1 {
        var element = try message()
        values.append(try element.value())
      } else {
        try skip()
      }
    }
    return values
  }

  /// Reads a resource name, and appends it in its normal form.
  private mutating func reference(
    into builder: inout PackedBuilder
  ) throws(DocumentWireError) {
    let range = try text()
    do throws(DocumentError) {
      let name = try DocumentName(resourceName: String(decoding: bytes[range], as: UTF8.self))
      let text = name.resourceName
      // A path that a program gives may end in a slash; one on the wire may not.
      if text.utf8.count != range.count { throw .emptySegment(path: name.key.text) }
      text.withSpan { builder.append(reference: $0) }
    } catch {
      throw .document(error)
    }
  }

  /// Reads a `Timestamp`: 1 seconds since 1970, 2 nanoseconds.
  ///
  /// - Throws: ``DocumentWireError/document(_:)`` outside of the years 1 to 9999, and for
  ///   nanoseconds outside of 0 to 999,999,999.
  mutating func timestamp() throws(DocumentWireError) -> DocumentTimestamp {
    var (seconds, nanoseconds): (Int64, Int32) = (0, 0)
    let rest = try enter()
    while let field = try next() {
      switch field {
      case 1: seconds = try int64()
      case 2: nanoseconds = try int32()
      default: try skip()
      }
    }
    leave(for: rest)
    do throws(DocumentError) {
      return try DocumentTimestamp(seconds: seconds, nanoseconds: nanoseconds)
    } catch {
      throw .document(error)
    }
  }

  /// Reads a `Timestamp` as a version, which has whole microseconds; further digits are dropped.
  mutating func version() throws(DocumentWireError) -> DocumentVersion {
    DocumentVersion(microseconds: try timestamp().microseconds)
  }

  /// Reads a `LatLng`: 1 latitude, 2 longitude, in degrees.
  private mutating func geoPoint() throws(DocumentWireError) -> DocumentGeoPoint {
    var (latitude, longitude) = (0.0, 0.0)
    var message = try message()
    while let field = try message.next() {
      switch field {
      case 1: latitude = try message.double()
      case 2: longitude = try message.double()
      default: try message.skip()
      }
    }
    do throws(DocumentError) {
      return try DocumentGeoPoint(latitude: latitude, longitude: longitude)
    } catch {
      throw .document(error)
    }
  }
}

/// Returns `true` if a field of a `Value` is known.
///
/// A field that is not known may be one of a newer protocol. It is skipped, and then the value has
/// no type.
@inline(__always)
private func isValueField(_ number: Int) -> Bool {
  switch number {
  case 1...3, 5, 6, 8...11, 17...22: true
  default: false
  }
}

/// Returns the next known field of a `Value`. A loop, so that unknown fields take no stack.
private func nextValueField(
  _ reader: inout ProtoReader
) throws(DocumentWireError) -> Int? {
  while let field = try reader.next() {
    if isValueField(field) { return field }
    try reader.skip()
  }
  return nil
}
