import TernCore

/// Decodes fields by name.
struct FieldDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let coder: DocumentDecoder
  let map: DocumentMap
  let codingPath: [any CodingKey]

  var allKeys: [Key] { map.entries.compactMap { Key(stringValue: $0.name) } }

  func contains(_ key: Key) -> Bool { map[key.stringValue] != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try field(key).decodeNil() }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try field(key).decode(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try field(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try field(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try field(SuperKey()) }
  func superDecoder(forKey key: Key) throws -> any Decoder {
    ValueDecoder(
      coder: coder, value: map[key.stringValue] ?? .null, codingPath: codingPath + [key])
  }

  private func field(_ key: some CodingKey) throws -> ValueDecoder {
    guard let value = map[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: codingPath, debugDescription: "no field \(key.stringValue)"))
    }
    return ValueDecoder(coder: coder, value: value, codingPath: codingPath + [key])
  }
}

/// Decodes elements by position.
struct ElementDecoding: UnkeyedDecodingContainer {
  let coder: DocumentDecoder
  let elements: [DocumentValue]
  let codingPath: [any CodingKey]
  private(set) var currentIndex = 0

  init(coder: DocumentDecoder, elements: [DocumentValue], codingPath: [any CodingKey]) {
    self.coder = coder
    self.elements = elements
    self.codingPath = codingPath
  }

  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd, case .null = elements[currentIndex] else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try take().decode(type)
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    try take().container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try take().unkeyedContainer()
  }

  mutating func superDecoder() throws -> any Decoder { try take() }

  private mutating func take() throws -> ValueDecoder {
    let path = codingPath + [PositionKey(currentIndex)]
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        DocumentValue.self, .init(codingPath: path, debugDescription: "the list is at its end"))
    }
    defer { currentIndex += 1 }
    return ValueDecoder(coder: coder, value: elements[currentIndex], codingPath: path)
  }
}
