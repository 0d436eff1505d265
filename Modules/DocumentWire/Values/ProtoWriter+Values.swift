import TernCore

/// `Value` and what lies in it, straight from packed bytes.
extension ProtoWriter {
  /// Writes the value at `offset` as a field, and moves behind it.
  ///
  /// - Parameters:
  ///   - packed: Bytes that hold well-formed packed values; they are not checked.
  ///   - offset: The start of the value; afterwards the index behind it.
  mutating func value(_ field: Int, _ packed: Span<UInt8>, _ offset: inout Int) {
    let mark = begin(field)
    content(packed, &offset)
    end(mark)
  }

  /// Writes a value that is not packed yet.
  mutating func value(_ field: Int, _ value: DocumentValue) {
    var offset = 0
    let packed = PackedValue(value)
    self.value(field, packed.bytes.span, &offset)
  }

  /// Writes values as an `ArrayValue`.
  mutating func array(_ field: Int, _ values: [DocumentValue]) {
    let mark = begin(field)
    for value in values { self.value(1, value) }
    end(mark)
  }

  /// Writes the entries of the packed map at 0.
  ///
  /// Each entry is a field of its own: a map in protobuf is a repeated message {1 name, 2 value}.
  mutating func fields(_ field: Int, _ fields: DocumentFields) {
    var offset = 0
    if case .map(let range) = Packed.item(fields.bytes.span, &offset) {
      entries(field, fields.bytes.span, range)
    }
  }

  /// - Parameter range: The entries of a packed map.
  private mutating func entries(_ field: Int, _ packed: Span<UInt8>, _ range: Range<Int>) {
    var offset = range.lowerBound
    while offset < range.upperBound {
      let entry = begin(field)
      put(1, packed.extracting(Packed.name(packed, &offset)))
      value(2, packed, &offset)
      end(entry)
    }
  }

  /// Writes the one field that a `Value` has. Members of a choice are written even when they are
  /// the default, or else the value would have no type.
  private mutating func content(_ packed: Span<UInt8>, _ offset: inout Int) {
    switch Packed.item(packed, &offset) {
    case .null: putInt(11, 0)
    case .boolean(let flag): putBool(1, flag)
    case .integer(let number): putInt(2, number)
    case .double(let number): putDouble(3, number)
    case .timestamp(let time): timestamp(10, time)
    case .string(let range): put(17, packed.extracting(range))
    case .bytes(let range): put(18, packed.extracting(range))
    case .reference(let range): put(5, packed.extracting(range))
    case .geoPoint(let point):
      let mark = begin(8)
      double(1, point.latitude)
      double(2, point.longitude)
      end(mark)
    case .array(let range):
      let mark = begin(9)
      var element = range.lowerBound
      while element < range.upperBound { value(1, packed, &element) }
      end(mark)
    case .vector(let range): vector(packed, range)
    case .map(let range):
      let mark = begin(6)
      entries(1, packed, range)
      end(mark)
    // A device's estimate of the server's time stays on the device.
    case .pending: putInt(11, 0)
    }
  }

  /// A vector travels as a map with a type and an array.
  private mutating func vector(_ packed: Span<UInt8>, _ range: Range<Int>) {
    let map = begin(6)
    let type = begin(1)
    put(1, "__type__")
    value(2, .string("__vector__"))
    end(type)
    let entry = begin(1)
    put(1, "value")
    let value = begin(2)
    let array = begin(9)
    var offset = range.lowerBound
    while offset < range.upperBound {
      let element = begin(1)
      putDouble(3, Packed.number(packed, &offset))
      end(element)
    }
    end(array)
    end(value)
    end(entry)
    end(map)
  }

  /// Writes a `Timestamp`; the message is there even for the beginning of 1970.
  mutating func timestamp(_ field: Int, _ time: DocumentTimestamp) {
    let mark = begin(field)
    int(1, time.seconds)
    int(2, time.nanoseconds)
    end(mark)
  }

  /// A version; none is left out.
  mutating func version(_ field: Int, _ version: DocumentVersion) {
    if version != .none { timestamp(field, version.timestamp) }
  }
}
