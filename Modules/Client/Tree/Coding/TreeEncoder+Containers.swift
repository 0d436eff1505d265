import TernCore

/// Encodes members by name.
struct NamedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let box: NodeBox
  let codingPath: [any CodingKey]

  init(box: NodeBox, codingPath: [any CodingKey]) {
    self.box = box
    self.codingPath = codingPath
    if case .named = box.content { return }
    box.content = .named([])
  }

  private func member(_ key: some CodingKey) -> NodeEncoder {
    NodeEncoder(codingPath: codingPath + [key], box: box.add(named: key.stringValue))
  }

  func encodeNil(forKey key: Key) {}

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try member(key).encode(value)
  }

  func encode(_ value: Bool, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: String, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: Double, forKey key: Key) throws { try member(key).encode(value) }
  func encode(_ value: Float, forKey key: Key) throws { try member(key).encode(value) }
  func encode(_ value: Int, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: Int8, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: Int16, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: Int32, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: Int64, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: UInt, forKey key: Key) throws { try member(key).encode(value) }
  func encode(_ value: UInt8, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: UInt16, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: UInt32, forKey key: Key) { member(key).encode(value) }
  func encode(_ value: UInt64, forKey key: Key) throws { try member(key).encode(value) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    member(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    member(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { member(SuperKey()) }
  func superEncoder(forKey key: Key) -> any Encoder { member(key) }
}

/// Encodes elements by position.
struct ListedEncoding: UnkeyedEncodingContainer {
  let box: NodeBox
  let codingPath: [any CodingKey]

  init(box: NodeBox, codingPath: [any CodingKey]) {
    self.box = box
    self.codingPath = codingPath
    if case .listed = box.content { return }
    box.content = .listed([])
  }

  var count: Int { box.listedCount }

  private func element() -> NodeEncoder {
    NodeEncoder(codingPath: codingPath + [PositionKey(count)], box: box.addListed())
  }

  func encodeNil() { _ = element() }
  func encode(_ value: Bool) { element().encode(value) }
  func encode(_ value: String) { element().encode(value) }
  func encode(_ value: Double) throws { try element().encode(value) }
  func encode(_ value: Float) throws { try element().encode(value) }
  func encode(_ value: Int) { element().encode(value) }
  func encode(_ value: Int8) { element().encode(value) }
  func encode(_ value: Int16) { element().encode(value) }
  func encode(_ value: Int32) { element().encode(value) }
  func encode(_ value: Int64) { element().encode(value) }
  func encode(_ value: UInt) throws { try element().encode(value) }
  func encode(_ value: UInt8) { element().encode(value) }
  func encode(_ value: UInt16) { element().encode(value) }
  func encode(_ value: UInt32) { element().encode(value) }
  func encode(_ value: UInt64) throws { try element().encode(value) }

  func encode<Value: Encodable>(_ value: Value) throws { try element().encode(value) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    element().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { element().unkeyedContainer() }

  func superEncoder() -> any Encoder { element() }
}

/// The name under which a class encodes its superclass.
struct SuperKey: CodingKey {
  var stringValue: String { "super" }
  var intValue: Int? { nil }
  init() {}
  init?(stringValue: String) { nil }
  init?(intValue: Int) { nil }
}

/// The place of an element in a list.
struct PositionKey: CodingKey {
  let position: Int
  var stringValue: String { String(position) }
  var intValue: Int? { position }
  init(_ position: Int) { self.position = position }
  init?(stringValue: String) {
    guard let position = Int(stringValue) else { return nil }
    self.position = position
  }
  init?(intValue: Int) { position = intValue }
}
