import Foundation

/// Decodes members by name.
///
/// `contains` tells about stored members only. Decoding an absent member of the tree is tried
/// nevertheless, since an empty array or dictionary is stored as nothing.
struct NamedDataDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let owner: DataDecoding
  private let members: [String: Any]

  init(_ owner: DataDecoding, _ members: [String: Any]) {
    self.owner = owner
    self.members = members
  }

  var codingPath: [any CodingKey] { owner.codingPath }
  var allKeys: [Key] { members.keys.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    // In the tree an absent member may be an empty collection, or a wrapper that stands for `nil`.
    if members[key.stringValue] == nil, owner.options.model == .tree {
      do { return try decoding(key).decode(type) } catch is DecodingError { throw missing(key) }
    }
    return try member(key).decode(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try member(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try member(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { decoding(CodingName("super")) }
  func superDecoder(forKey key: Key) throws -> any Decoder { decoding(key) }

  private func member(_ key: Key) throws -> DataDecoding {
    guard members[key.stringValue] != nil else { throw missing(key) }
    return decoding(key)
  }

  private func decoding(_ key: some CodingKey) -> DataDecoding {
    DataDecoding(
      members[key.stringValue] ?? NSNull(), owner.options, owner.codingPath + [key])
  }

  private func missing(_ key: Key) -> DecodingError {
    .keyNotFound(
      key, .init(codingPath: codingPath, debugDescription: "no member \(key.stringValue)"))
  }
}

/// Decodes elements by position.
struct ListedDataDecoding: UnkeyedDecodingContainer {
  private let owner: DataDecoding
  private let elements: [Any]
  private(set) var currentIndex = 0

  init(_ owner: DataDecoding, _ elements: [Any]) {
    self.owner = owner
    self.elements = elements
  }

  var codingPath: [any CodingKey] { owner.codingPath }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd, elements[currentIndex] is NSNull else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // The position moves only when an element was decoded.
    let value = try next().decode(type)
    currentIndex += 1
    return value
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    let container = try next().container(keyedBy: type)
    currentIndex += 1
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try next().unkeyedContainer()
    currentIndex += 1
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let decoding = try next()
    currentIndex += 1
    return decoding
  }

  private func next() throws -> DataDecoding {
    let path = codingPath + [CodingName(currentIndex)]
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        Any.self, .init(codingPath: path, debugDescription: "the array is at its end"))
    }
    return DataDecoding(elements[currentIndex], owner.options, path)
  }
}
