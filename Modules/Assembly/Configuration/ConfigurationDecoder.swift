/// A `Decoder` over a ``ConfigurationValue`` that notes every key it is asked for.
struct ConfigurationDecoder: Decoder {
  let value: ConfigurationValue
  let path: [String]
  let trace: DecodingTrace

  init(_ value: ConfigurationValue, path: [String], trace: DecodingTrace) {
    self.value = value
    self.path = path
    self.trace = trace
  }

  var codingPath: [any CodingKey] { path.map(ConfigurationKey.init) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    guard case .object(let members) = value else { throw mismatch("an object") }
    if trace.asked[path] == nil { trace.asked[path] = [] }
    return KeyedDecodingContainer(ConfigurationMembers<Key>(members: members, decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let elements) = value else { throw mismatch("an array") }
    return ConfigurationElements(elements: elements, decoder: self)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  func child(_ value: ConfigurationValue, at key: String) -> ConfigurationDecoder {
    ConfigurationDecoder(value, path: path + [key], trace: trace)
  }

  func mismatch(_ expected: String) -> DecodingError {
    .typeMismatch(
      ConfigurationValue.self,
      .init(
        codingPath: codingPath, debugDescription: expected,
        underlyingError: FoundType(name: value.typeName)))
  }
}

extension ConfigurationDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { value == .null }

  func decode(_ type: Bool.Type) throws -> Bool {
    switch value {
    case .bool(let value): return value
    case .text("true"): return true
    case .text("false"): return false
    default: throw mismatch("true or false")
    }
  }

  func decode(_ type: String.Type) throws -> String {
    guard let text = value.stringValue else { throw mismatch("a string") }
    return text
  }

  func decode(_ type: Double.Type) throws -> Double {
    switch value {
    case .integer(let value): return Double(value)
    case .double(let value): return value
    case .text(let text):
      guard let value = Double(text), value.isFinite else { throw mismatch("a number") }
      return value
    default: throw mismatch("a number")
    }
  }

  func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }
  func decode(_ type: Int.Type) throws -> Int { try integer() }
  func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
  func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
  func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
  func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
  func decode(_ type: UInt.Type) throws -> UInt { try integer() }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try T(from: self) }

  private func integer<I: FixedWidthInteger>() throws -> I {
    let expected = "an integer in \(I.min)...\(I.max)"
    switch value {
    case .integer(let value):
      if let exact = I(exactly: value) { return exact }
    case .text(let text):
      if let exact = I(text) { return exact }
    default: throw mismatch("an integer")
    }
    throw mismatch(expected)
  }
}

/// A key of a configuration, or an index.
struct ConfigurationKey: CodingKey {
  let stringValue: String
  var intValue: Int? { Int(stringValue) }

  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { stringValue = String(intValue) }
}
