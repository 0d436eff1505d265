public import TernCore

/// Turns `Encodable` values into what can be written to documents.
///
/// Structures and dictionaries become maps, lists arrays; integers stay exact; `[UInt8]` becomes
/// bytes. `DocumentTimestamp`, `DocumentGeoPoint`,
/// `DocumentValue`, ``DocumentLocation`` stay what they are, and
/// `DocumentInput` carries transforms. A `Date` becomes a timestamp, cut to
/// microseconds;
/// `Data` bytes; a `URL` and a `UUID` their text; a `Decimal` the double that has it as its
/// shortest
/// text. A member that is `nil` is left out, unless it is an ``ExplicitNull``. What documents
/// cannot
/// hold is an error.
public struct DocumentEncoder: Sendable {
  /// Converts a value of a foreign type; `nil` leaves it to its own encoding.
  package var conversion: @Sendable (any Encodable) throws -> DocumentInput? = { _ in nil }

  /// Makes an encoder; it has nothing to set.
  public init() {}

  /// Encodes one value.
  ///
  /// - Throws: ``DocumentCodingError/encoding(_:)``, also for an integer above `Int64.max`.
  public func encode<Value: Encodable>(
    _ value: Value
  ) throws(DocumentCodingError) -> DocumentInput {
    do {
      return try encodeValue(value)
    } catch let error as DocumentError {
      throw .invalid(error)
    } catch {
      throw .encoding(codingErrorText(error))
    }
  }

  /// Encodes one value.
  ///
  /// - Throws: `EncodingError`, and what types throw that encode themselves.
  package func encodeValue<Value: Encodable>(_ value: Value) throws -> DocumentInput {
    let encoder = InputEncoder(coder: self, codingPath: [])
    try encoder.encode(value)
    return encoder.box.input()
  }

  /// Encodes the fields of a document.
  ///
  /// - Throws: ``DocumentCodingError/encoding(_:)``, also when the value becomes no map.
  package func fields<Value: Encodable>(
    of value: Value
  ) throws(DocumentCodingError) -> [DocumentInput.Field] {
    let input = try encode(value)
    do throws(DocumentError) { return try input.fields() } catch {
      throw .encoding("a document is a map, which \(Value.self) does not become")
    }
  }
}

/// The reason a value could not be turned into a document's, or the other way round.
public enum DocumentCodingError: Error, Hashable, Sendable {
  /// A value breaks a rule of documents.
  case invalid(DocumentError)
  /// The value refused to be encoded; the text says where and why.
  case encoding(String)
  /// The document does not have the shape the type expects; the text says where and why.
  case decoding(String)
}

/// An input under construction.
final class InputBox {
  enum Content {
    case input(DocumentInput)
    case named([(name: String, box: InputBox)])
    case listed([InputBox])
  }

  var content = Content.input(.value(.null))

  func input() -> DocumentInput {
    switch content {
    case .input(let input): input
    case .named(let members):
      .map(members.map { DocumentInput.Field($0.name, $0.box.input()) })
    case .listed(let elements): .array(elements.map { $0.input() })
    }
  }

  /// A member; of those with one name the last one counts.
  func add(named name: String) -> InputBox {
    let box = InputBox()
    var members: [(name: String, box: InputBox)] = []
    if case .named(let known) = content {
      members = known
      content = .listed([])
    }
    members.append((name, box))
    content = .named(members)
    return box
  }

  func addListed() -> InputBox {
    let box = InputBox()
    var elements: [InputBox] = []
    if case .listed(let known) = content {
      elements = known
      content = .named([])
    }
    elements.append(box)
    content = .listed(elements)
    return box
  }

  var listedCount: Int {
    if case .listed(let elements) = content { elements.count } else { 0 }
  }
}

/// The encoder of one value.
struct InputEncoder: Encoder, SingleValueEncodingContainer {
  let coder: DocumentEncoder
  let codingPath: [any CodingKey]
  var box = InputBox()
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(FieldEncoding<Key>(box: box, coder: coder, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    ElementEncoding(box: box, coder: coder, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() { box.content = .input(.value(.null)) }

  func encode<Value: Encodable>(_ value: Value) throws {
    if let converted = try coder.conversion(value) {
      box.content = .input(converted)
    } else if let input = value as? DocumentInput {
      box.content = .input(input)
    } else if let coded = value as? any DocumentCoded {
      guard let input = coded.documentInput() else {
        let text = "no value of a document is exactly this"
        throw EncodingError.invalidValue(
          value, .init(codingPath: codingPath, debugDescription: text))
      }
      box.content = .input(input)
    } else {
      // On the way down, before the stack runs out; the whole is checked with the write.
      if codingPath.count > DocumentLimits.depth + 1 {
        let path = DocumentFieldPath(unchecked: codingPath.map(\.stringValue))
        throw DocumentError.tooDeep(path, limit: DocumentLimits.depth)
      }
      try value.encode(to: self)
    }
  }
}
