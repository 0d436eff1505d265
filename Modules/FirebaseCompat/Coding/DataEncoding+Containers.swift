import Foundation

/// Encodes members by name.
struct NamedDataEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  private let owner: DataEncoding

  init(_ owner: DataEncoding) {
    self.owner = owner
    if case .named = owner.box.content { return }
    owner.box.content = .named([:])
  }

  var codingPath: [any CodingKey] { owner.codingPath }

  private func member(_ key: some CodingKey) -> DataEncoding {
    DataEncoding(
      owner.options, owner.codingPath + [key], owner.box.add(named: owner.name(key)))
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

  func superEncoder() -> any Encoder { member(CodingName("super")) }
  func superEncoder(forKey key: Key) -> any Encoder { member(key) }
}

/// Encodes elements by position.
struct ListedDataEncoding: UnkeyedEncodingContainer {
  private let owner: DataEncoding

  init(_ owner: DataEncoding) {
    self.owner = owner
    if case .listed = owner.box.content { return }
    owner.box.content = .listed([])
  }

  var codingPath: [any CodingKey] { owner.codingPath }
  var count: Int { owner.box.listedCount }

  private func element() -> DataEncoding {
    DataEncoding(owner.options, codingPath + [CodingName(count)], owner.box.addListed())
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

/// A key that no type declares: of a superclass, or the position of an element.
struct CodingName: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(_ name: String) { (stringValue, intValue) = (name, nil) }
  init(_ position: Int) { (stringValue, intValue) = (String(position), position) }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { self.init(intValue) }
}

/// The two spellings of a key.
enum KeyCase {
  /// Spells `postCount` as `post_count` and `aURLText` as `a_url_text`.
  static func snake(_ name: String) -> String {
    let letters = Array(name)
    var result = ""
    for (index, letter) in letters.enumerated() {
      let before = index > 0 ? letters[index - 1] : nil
      let after = index + 1 < letters.count ? letters[index + 1] : nil
      if letter.isUppercase, let before, before != "_" {
        let beginsWord = !before.isUppercase || (after?.isLowercase ?? false)
        if beginsWord { result += "_" }
      }
      result += letter.lowercased()
    }
    return result
  }

  /// Spells `post_count` as `postCount`; underscores at the ends stay.
  static func camel(_ name: String) -> String {
    guard let first = name.firstIndex(where: { $0 != "_" }),
      let last = name.lastIndex(where: { $0 != "_" })
    else { return name }
    let words = name[first...last].split(separator: "_")
    guard words.count > 1 else { return name }
    let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst().lowercased() }
    return name[..<first] + words[0].lowercased() + rest.joined()
      + name[name.index(after: last)...]
  }
}
