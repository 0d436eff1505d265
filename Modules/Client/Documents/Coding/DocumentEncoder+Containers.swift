import TernCore

/// Encodes fields by name.
struct FieldEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let box: InputBox
  let coder: DocumentEncoder
  let codingPath: [any CodingKey]

  init(box: InputBox, coder: DocumentEncoder, codingPath: [any CodingKey]) {
    self.box = box
    self.coder = coder
    self.codingPath = codingPath
    if case .named = box.content { return }
    box.content = .named([])
  }

  private func member(_ key: some CodingKey) -> InputEncoder {
    InputEncoder(
      coder: coder, codingPath: codingPath + [key], box: box.add(named: key.stringValue))
  }

  func encodeNil(forKey key: Key) { member(key).encodeNil() }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try member(key).encode(value)
  }

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
struct ElementEncoding: UnkeyedEncodingContainer {
  let box: InputBox
  let coder: DocumentEncoder
  let codingPath: [any CodingKey]

  init(box: InputBox, coder: DocumentEncoder, codingPath: [any CodingKey]) {
    self.box = box
    self.coder = coder
    self.codingPath = codingPath
    if case .listed = box.content { return }
    box.content = .listed([])
  }

  var count: Int { box.listedCount }

  private func element() -> InputEncoder {
    InputEncoder(
      coder: coder, codingPath: codingPath + [PositionKey(count)], box: box.addListed())
  }

  func encodeNil() { element().encodeNil() }

  func encode<Value: Encodable>(_ value: Value) throws { try element().encode(value) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    element().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { element().unkeyedContainer() }

  func superEncoder() -> any Encoder { element() }
}
