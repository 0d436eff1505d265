import Foundation
import TernCore

/// The place of one encoded value.
///
/// Containers of `Encoder` write at different times into one result. Each gets a box, and the boxes
/// become Foundation objects at the end. A container of another kind replaces what was there.
final class EncodedBox {
  enum Content {
    case nothing
    case value(Any)
    case named([String: EncodedBox])
    case listed([EncodedBox])
  }

  var content = Content.nothing

  /// The value; `nil` when none was encoded.
  var foundation: Any? {
    switch content {
    case .nothing: nil
    case .value(let value): value
    case .named(let members): members.compactMapValues(\.foundation)
    case .listed(let elements): elements.map { $0.foundation ?? [String: Any]() }
    }
  }

  /// A member; the last one of a name counts.
  func add(named name: String) -> EncodedBox {
    let box = EncodedBox()
    var members: [String: EncodedBox] = [:]
    if case .named(let known) = content {
      members = known
      content = .nothing
    }
    members[name] = box
    content = .named(members)
    return box
  }

  func addListed() -> EncodedBox {
    let box = EncodedBox()
    var elements: [EncodedBox] = []
    if case .listed(let known) = content {
      elements = known
      content = .nothing
    }
    elements.append(box)
    content = .listed(elements)
    return box
  }

  var listedCount: Int { if case .listed(let elements) = content { elements.count } else { 0 } }
}

/// A dictionary with names as keys, which no strategy changes.
protocol NamedDictionary {}
extension Dictionary: NamedDictionary where Key == String {}

/// The encoder of one value.
///
/// Strategies for dates, data, keys and numbers apply here; what the model passes through is put
/// into the box as it is.
struct DataEncoding: Encoder, SingleValueEncodingContainer {
  let options: FirebaseDataEncoderOptions
  let codingPath: [any CodingKey]
  let box: EncodedBox
  /// True when the keys of the value itself are left as they are.
  private(set) var keepsKeys = false

  init(
    _ options: FirebaseDataEncoderOptions, _ codingPath: [any CodingKey] = [],
    _ box: EncodedBox = EncodedBox()
  ) {
    self.options = options
    self.codingPath = codingPath
    self.box = box
  }

  var userInfo: [CodingUserInfoKey: Any] { options.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(NamedDataEncoding<Key>(self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { ListedDataEncoding(self) }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() { box.content = .value(NSNull()) }

  func encode<Value: Encodable>(_ value: Value) throws {
    if options.model.passes(value) { return put(value) }
    switch value {
    case let value as Bool: put(NSNumber(value: value))
    case let value as String: put(value)
    case let value as Double: try put(float: value)
    case let value as Float: try put(float: Double(value))
    case let value as Date: try encode(date: value)
    case let value as Data: try encode(data: value)
    case let value as URL: put(value.absoluteString)
    case let value as Decimal: put(NSNumber(value: NSDecimalNumber(decimal: value).doubleValue))
    case let value as any FixedWidthInteger & Encodable: try put(integer: value)
    default: try encodeOther(value)
    }
  }

  /// A type that encodes itself; one that encodes nothing is an empty dictionary.
  private func encodeOther(_ value: some Encodable) throws {
    // On the way down, before the stack runs out: neither model holds what is deeper.
    guard codingPath.count <= TreeLimits.pathSegments else {
      let text = "the value has more than \(TreeLimits.pathSegments) levels"
      throw EncodingError.invalidValue(
        value, .init(codingPath: codingPath, debugDescription: text))
    }
    var encoding = self
    encoding.keepsKeys = value is any NamedDictionary
    try value.encode(to: encoding)
  }

  private func put(_ value: Any) { box.content = .value(value) }

  /// Numbers are widened: Foundation takes one of eight bits for a boolean.
  ///
  /// - Throws: `EncodingError.invalidValue` for numbers of more than 64 bits.
  private func put(integer value: some FixedWidthInteger & Encodable) throws {
    if let exact = Int64(exactly: value) {
      put(NSNumber(value: exact))
    } else if let exact = UInt64(exactly: value) {
      put(NSNumber(value: exact))
    } else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: codingPath, debugDescription: "the number has more than 64 bits"))
    }
  }

  /// Puts a floating-point number.
  ///
  /// - Throws: `EncodingError.invalidValue` for a number that is not finite, unless a strategy
  ///   gives it a text.
  private func put(float value: Double) throws {
    if value.isFinite { return put(NSNumber(value: value)) }
    guard case .convertToString(let positive, let negative, let nan) = options.float else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: codingPath, debugDescription: "\(value) is not finite"))
    }
    put(value.isNaN ? nan : value > 0 ? positive : negative)
  }

  private func encode(date: Date) throws {
    switch options.date {
    case .deferredToDate: try date.encode(to: self)
    case .secondsSince1970: try put(float: date.timeIntervalSince1970)
    case .millisecondsSince1970: try put(float: date.timeIntervalSince1970 * 1_000)
    case .iso8601: put(ISO8601DateFormatter().string(from: date))
    case .formatted(let formatter): put(formatter.string(from: date))
    case .custom(let body): try encode { try body(date, self) }
    }
  }

  private func encode(data: Data) throws {
    switch options.data {
    case .deferredToData: try data.encode(to: self)
    case .base64: put(data.base64EncodedString())
    case .blob: put(data)
    case .custom(let body): try encode { try body(data, self) }
    }
  }

  /// Lets a closure encode; one that encodes nothing stands for an empty dictionary.
  private func encode(_ body: () throws -> Void) throws {
    try body()
    if case .nothing = box.content { box.content = .named([:]) }
  }

  /// The name that a key gets.
  func name(_ key: some CodingKey) -> String {
    if keepsKeys { return key.stringValue }
    switch options.key {
    case .useDefaultKeys: return key.stringValue
    case .convertToSnakeCase: return KeyCase.snake(key.stringValue)
    case .custom(let body): return body(codingPath + [key]).stringValue
    }
  }
}
