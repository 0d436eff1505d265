/// Packs values one after the other, in place: what a decoder writes documents with.
///
/// A container is opened with ``begin()`` and closed with one of the `end` functions, which take
/// what was written since. The caller writes only what is legal: valid UTF-8, times in range,
/// names of documents as references.
///
/// Decoders use it to turn a message into packed fields without building values in between.
package struct PackedBuilder {
  /// The bytes packed so far.
  package private(set) var bytes: [UInt8] = []

  /// The position at which a container's contents begin.
  package struct Mark {
    fileprivate let start: Int
  }

  /// The position of a field of an open map.
  ///
  /// ``PackedBuilder/endField(_:)`` sets its end; the fields of a map must be ended in the order in
  /// which they began.
  package struct Field {
    fileprivate let name: Range<Int>
    fileprivate var end: Int
  }

  package init() {}

  package mutating func reserve(_ byteCount: Int) { bytes.reserveCapacity(byteCount) }

  package mutating func appendNull() { bytes.append(Packed.Tag.null) }

  package mutating func append(_ flag: Bool) {
    bytes.append(flag ? Packed.Tag.yes : Packed.Tag.no)
  }

  package mutating func append(_ number: Int64) { Packed.append(number, to: &bytes) }

  package mutating func append(_ number: Double) {
    bytes.append(Packed.Tag.double)
    appendBits(number)
  }

  package mutating func append(_ time: DocumentTimestamp) {
    bytes.append(Packed.Tag.timestamp)
    Packed.append(bits: UInt64(bitPattern: time.microseconds), to: &bytes)
  }

  package mutating func append(_ point: DocumentGeoPoint) {
    bytes.append(Packed.Tag.geoPoint)
    Packed.append(bits: point.latitude.bitPattern, to: &bytes)
    Packed.append(bits: point.longitude.bitPattern, to: &bytes)
  }

  /// - Parameter text: Valid UTF-8.
  package mutating func append(text: Span<UInt8>) {
    Packed.append(Packed.Tag.string, text, to: &bytes)
  }

  package mutating func append(bytes content: Span<UInt8>) {
    Packed.append(Packed.Tag.bytes, content, to: &bytes)
  }

  /// - Parameter name: The resource name of a document.
  package mutating func append(reference name: Span<UInt8>) {
    Packed.append(Packed.Tag.reference, name, to: &bytes)
  }

  private mutating func appendBits(_ number: Double) {
    Packed.append(bits: (number.isNaN ? .nan : number).bitPattern, to: &bytes)
  }

  /// Opens a container: what follows are its elements or its fields.
  package mutating func begin() -> Mark {
    // Room for the tag and a count below 128, which most containers get by with.
    bytes.append(0)
    bytes.append(0)
    return Mark(start: bytes.count)
  }

  /// Closes an array.
  package mutating func endArray(_ mark: Mark) { close(Packed.Tag.array, mark) }

  /// Begins a field of an open map; its value follows.
  ///
  /// - Parameter name: Valid UTF-8.
  package mutating func beginField(_ name: Span<UInt8>) -> Field {
    Packed.append(name, to: &bytes)
    return Field(name: bytes.count - name.count..<bytes.count, end: 0)
  }

  /// Ends a field behind its value.
  package mutating func endField(_ field: inout Field) { field.end = bytes.count }

  /// Closes a map: sorts its fields unless they ascend; of fields with one name the last stays.
  ///
  /// A map that is the wire's form of a vector becomes a vector.
  ///
  /// - Parameters:
  ///   - fields: All fields since the mark, in the order they were written.
  ///   - isDocument: Whether these are the fields of a document, which is no vector.
  package mutating func endMap(_ mark: Mark, _ fields: [Field], isDocument: Bool = false) {
    let count = ascends(fields) ? fields.count : sort(fields, from: mark.start)
    if !isDocument, count == 2, replaceVector(from: mark.start) { return }
    close(Packed.Tag.map, mark)
  }
}

extension PackedBuilder {
  /// Writes the tag and the count into the room left in front of the content. A count of 128 or
  /// more needs further bytes, which move the content.
  private mutating func close(_ tag: UInt8, _ mark: Mark) {
    bytes[mark.start - 2] = tag
    var count = bytes.count - mark.start
    if count < 0x80 {
      bytes[mark.start - 1] = UInt8(count)
      return
    }
    bytes[mark.start - 1] = UInt8(count & 0x7F) | 0x80
    count >>= 7
    var rest: [UInt8] = []
    while count >= 0x80 {
      rest.append(UInt8(count & 0x7F) | 0x80)
      count >>= 7
    }
    rest.append(UInt8(count))
    bytes.insert(contentsOf: rest, at: mark.start)
  }

  private func ascends(_ fields: [Field]) -> Bool {
    for index in fields.indices.dropFirst() {
      if order(fields[index - 1], fields[index]) >= 0 { return false }
    }
    return true
  }

  private func order(_ left: Field, _ right: Field) -> Int {
    bytes.span.extracting(left.name).compareBytes(bytes.span.extracting(right.name))
  }

  /// - Returns: The number of fields that stay.
  ///
  /// Sorts the fields by name and keeps the last of each name. The bytes of the map are copied
  /// once.
  private mutating func sort(_ fields: [Field], from start: Int) -> Int {
    let positions = fields.indices.sorted { left, right in
      let order = order(fields[left], fields[right])
      return order == 0 ? left < right : order < 0
    }
    var sorted: [UInt8] = []
    sorted.reserveCapacity(bytes.count - start)
    var count = 0
    for (place, index) in positions.enumerated() {
      if place + 1 < positions.count, order(fields[index], fields[positions[place + 1]]) == 0 {
        continue
      }
      let begin = index == 0 ? start : fields[index - 1].end
      sorted.append(bytes.span.extracting(begin..<fields[index].end))
      count += 1
    }
    bytes.replaceSubrange(start..., with: sorted)
    return count
  }

  /// The fields of a vector as a map, up to its numbers: names, type, the tag of an array.
  private static let vectorHead: [UInt8] = {
    var head: [UInt8] = []
    Packed.append(name: "__type__", to: &head)
    Packed.append(.string("__vector__"), to: &head)
    Packed.append(name: "value", to: &head)
    head.append(Packed.Tag.array)
    return head
  }()

  /// Replaces the map by a vector if it has exactly the form of one; the numbers must all be
  /// doubles.
  ///
  /// - Returns: True when the map was replaced, its mark included.
  private mutating func replaceVector(from start: Int) -> Bool {
    let head = PackedBuilder.vectorHead
    guard bytes.count - start > head.count, bytes[start] == head[0],
      bytes[start..<start + head.count].elementsEqual(head)
    else { return false }
    var offset = start + head.count
    _ = Packed.count(bytes.span, &offset)
    var numbers: [UInt8] = []
    while offset < bytes.count {
      guard bytes[offset] == Packed.Tag.double else { return false }
      numbers.append(bytes.span.extracting(offset + 1..<offset + 9))
      offset += 9
    }
    bytes.removeSubrange((start - 2)...)
    Packed.append(Packed.Tag.vector, numbers.span, to: &bytes)
    return true
  }
}

extension PackedBuilder {
  /// The one value that was packed.
  package var value: DocumentValue {
    var offset = 0
    return Packed.value(bytes.span, &offset)
  }
}

extension DocumentFields {
  /// Takes over the one map that was packed.
  package init(_ builder: consuming PackedBuilder) { self.init(unchecked: builder.bytes) }
}
