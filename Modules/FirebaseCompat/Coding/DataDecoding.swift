import Foundation
import TernCore

/// The decoder of one value.
///
/// It decodes Foundation objects as the snapshots give them: `NSNumber`, `NSString`,
/// `NSDictionary`, `NSArray`, and, for documents, types of Firestore's own. The two models differ
/// in absence: the tree has no null and no empty collections, so an absent value may stand for
/// either.
struct DataDecoding: Decoder, SingleValueDecodingContainer {
  /// The value; `NSNull` when nothing is there.
  let value: Any
  let options: FirebaseDataDecoderOptions
  let codingPath: [any CodingKey]
  /// True when the keys of the value itself are left as they are.
  private var keepsKeys = false

  init(
    _ value: Any, _ options: FirebaseDataDecoderOptions, _ codingPath: [any CodingKey] = []
  ) {
    self.value = value
    self.options = options
    self.codingPath = codingPath
  }

  var userInfo: [CodingUserInfoKey: Any] { options.userInfo }
  private var isAbsent: Bool { value is NSNull }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard let members = try members() else { throw mismatch(type, "a dictionary") }
    return KeyedDecodingContainer(NamedDataDecoding<Key>(self, members))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    if let elements = value as? [Any] { return ListedDataDecoding(self, elements) }
    if let vector = value as? VectorValue { return ListedDataDecoding(self, vector.array) }
    if isAbsent, options.model == .tree { return ListedDataDecoding(self, []) }
    throw mismatch([Any].self, "an array")
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { isAbsent }

  /// Decodes the value as a type.
  ///
  /// Types that the model passes through, such as timestamps and references, must be of the
  /// requested type already.
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if options.model.passes(type) {
      guard let same = value as? Value else { throw mismatch(type, "a \(type)") }
      return same
    }
    guard let special = try special(type) else { return try decodeOther(type) }
    guard let result = special as? Value else { throw mismatch(type, "a \(type)") }
    return result
  }

  /// A value of a type that does not decode itself; `nil` for the other types.
  ///
  /// Scalars are converted here. `Date`, `Data`, `URL` and `Decimal` would otherwise decode
  /// themselves in another form.
  private func special(_ type: any Decodable.Type) throws -> Any? {
    switch type {
    case is Bool.Type: return try flag()
    case is String.Type: return try text()
    case is Double.Type: return try float(type)
    case is Float.Type: return Float(try float(type))
    case is Date.Type: return try date()
    case is Data.Type: return try data()
    case is URL.Type:
      guard let url = URL(string: try text()) else { throw mismatch(type, "an address") }
      return url
    case is Decimal.Type:
      if case .integer(let number) = scalar { return Decimal(number) }
      return Decimal(try float(type))
    case let type as any FixedWidthInteger.Type: return try integer(type)
    default: return nil
    }
  }

  /// Decodes a type through its own conformance.
  ///
  /// Keys of a dictionary with string keys are data, not names of properties; no strategy converts
  /// them.
  private func decodeOther<Value: Decodable>(_ type: Value.Type) throws -> Value {
    var decoding = self
    decoding.keepsKeys = type is any NamedDictionary.Type
    return try type.init(from: decoding)
  }

  /// Names why a value does not decode.
  func mismatch(_ type: Any.Type, _ expected: String) -> DecodingError {
    let found = isAbsent ? "nothing" : "\(value)"
    let context = DecodingError.Context(
      codingPath: codingPath, debugDescription: "expected \(expected), found \(found)")
    return isAbsent ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }
}

// MARK: - Scalars

extension DataDecoding {
  private var scalar: TreeScalar? { TreeScalar(foundation: value) }

  private func flag() throws -> Bool {
    guard case .bool(let flag) = scalar else { throw mismatch(Bool.self, "a boolean") }
    return flag
  }

  private func text() throws -> String {
    guard let text = value as? String else { throw mismatch(String.self, "a string") }
    return text
  }

  /// Returns the value as a floating-point number.
  ///
  /// Integers that no `Double` represents exactly are a mismatch rather than rounded. Strings count
  /// only with a strategy for numbers that are not finite.
  private func float(_ type: Any.Type) throws -> Double {
    switch scalar {
    case .double(let number): return number
    case .integer(let number):
      guard let exact = Double(exactly: number) else { throw mismatch(type, "a number") }
      return exact
    case .string(let text):
      guard case .convertFromString(let positive, let negative, let nan) = options.float else {
        throw mismatch(type, "a number")
      }
      if text == positive { return .infinity }
      if text == negative { return -.infinity }
      if text == nan { return .nan }
      throw mismatch(type, "a number")
    case .bool, .serverValue, nil: throw mismatch(type, "a number")
    }
  }

  /// Returns the value as a whole number.
  ///
  /// Accepts doubles without a fraction: JSON does not distinguish 1.0 from 1.
  private func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
    let exact: Number? =
      switch scalar {
      case .integer(let number): Number(exactly: number)
      case .double(let number): Number(exactly: number)
      case .bool, .string, .serverValue, nil: nil
      }
    guard let exact else { throw mismatch(type, "a whole number that fits \(type)") }
    return exact
  }

  private func date() throws -> Date {
    switch options.date {
    case .deferredToDate: return try Date(from: self)
    case .secondsSince1970: return Date(timeIntervalSince1970: try float(Date.self))
    case .millisecondsSince1970:
      return Date(timeIntervalSince1970: try float(Date.self) / 1_000)
    case .iso8601:
      guard let date = ISO8601DateFormatter().date(from: try text()) else {
        throw mismatch(Date.self, "a date like 2026-11-23T10:00:00Z")
      }
      return date
    case .formatted(let formatter):
      guard let date = formatter.date(from: try text()) else {
        throw mismatch(Date.self, "a date in the form of the formatter")
      }
      return date
    case .custom(let body): return try body(self)
    }
  }

  private func data() throws -> Data {
    switch options.data {
    case .deferredToData: return try Data(from: self)
    case .base64:
      guard let data = Data(base64Encoded: try text()) else {
        throw mismatch(Data.self, "Base64")
      }
      return data
    case .blob:
      guard let data = value as? Data else { throw mismatch(Data.self, "bytes") }
      return data
    case .custom(let body): return try body(self)
    }
  }
}

// MARK: - Members

extension DataDecoding {
  /// The members by the names that keys have; `nil` for a value that has none.
  ///
  /// The tree gives children with whole numbers as keys as an array.
  ///
  /// With a conversion, two stored names may become one; the first one counts, in no particular
  /// order.
  private func members() throws -> [String: Any]? {
    if isAbsent, options.model == .tree { return [:] }
    if options.model == .tree, let elements = value as? [Any] {
      return Dictionary(
        uniqueKeysWithValues: elements.enumerated().filter { !($0.element is NSNull) }
          .map { (String($0.offset), $0.element) })
    }
    guard let members = value as? [String: Any] else { return nil }
    if keepsKeys { return members }
    switch options.key {
    case .useDefaultKeys: return members
    case .convertFromSnakeCase:
      return Dictionary(members.map { (KeyCase.camel($0.key), $0.value) }) { first, _ in first }
    case .custom(let body):
      return Dictionary(
        members.map { (body(codingPath + [CodingName($0.key)]).stringValue, $0.value) }
      ) { first, _ in first }
    }
  }
}
