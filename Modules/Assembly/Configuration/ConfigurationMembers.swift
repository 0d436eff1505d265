/// The members of an object, as a decoder lends them.
struct ConfigurationMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let members: [String: ConfigurationValue]
  let decoder: ConfigurationDecoder

  var codingPath: [any CodingKey] { decoder.codingPath }
  var allKeys: [Key] { members.keys.sorted().compactMap(Key.init(stringValue:)) }

  func contains(_ key: Key) -> Bool {
    decoder.trace.ask(key.stringValue, at: decoder.path)
    return members[key.stringValue] != nil
  }

  func decodeNil(forKey key: Key) throws -> Bool {
    try child(key).decodeNil()
  }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try T(from: child(key))
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try child(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try child(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { decoder }
  func superDecoder(forKey key: Key) throws -> any Decoder { try child(key) }

  private func child(_ key: Key) throws -> ConfigurationDecoder {
    guard contains(key), let value = members[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: codingPath, debugDescription: "missing"))
    }
    return decoder.child(value, at: key.stringValue)
  }
}

/// The elements of an array, as a decoder lends them.
struct ConfigurationElements: UnkeyedDecodingContainer {
  let elements: [ConfigurationValue]
  let decoder: ConfigurationDecoder
  private(set) var currentIndex = 0

  init(elements: [ConfigurationValue], decoder: ConfigurationDecoder) {
    self.elements = elements
    self.decoder = decoder
  }

  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex == elements.count }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd, elements[currentIndex] == .null else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try T(from: next())
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try next().container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next().unkeyedContainer()
  }

  mutating func superDecoder() throws -> any Decoder { try next() }

  private mutating func next() throws -> ConfigurationDecoder {
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        ConfigurationValue.self, .init(codingPath: codingPath, debugDescription: "missing"))
    }
    defer { currentIndex += 1 }
    return decoder.child(elements[currentIndex], at: String(currentIndex))
  }
}
