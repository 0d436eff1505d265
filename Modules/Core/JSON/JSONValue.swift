/// Any JSON value, for the parts of a message that have no type of their own.
///
/// Integers and doubles of one value are different here, unlike in ``TreeScalar``, and objects with
/// the same members in another order are different, too.
public enum JSONValue: Hashable, Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number without fraction and exponent that fits 64 bits.
  case integer(Int64)
  /// Any other number.
  case double(Double)
  /// A string.
  case string(String)
  /// An array.
  case array([JSONValue])
  /// An object, in the order of its text.
  case object([Member])

  /// One name and value of an object; objects keep the order they were read in.
  public struct Member: Hashable, Sendable {
    /// The name as written, escapes resolved.
    public let name: String
    /// The value under that name.
    public let value: JSONValue

    /// Pairs a name with a value.
    public init(_ name: String, _ value: JSONValue) {
      self.name = name
      self.value = value
    }

    /// True if names are the same bytes and values are equal.
    public static func == (left: Member, right: Member) -> Bool {
      left.name.hasSameBytes(as: right.name) && left.value == right.value
    }

    public func hash(into hasher: inout Hasher) {
      name.hashBytes(into: &hasher)
      hasher.combine(value)
    }
  }

  /// The last member of that name; `nil` when there is none or this is no object.
  public subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.last { $0.name.hasSameBytes(as: name) }?.value
  }

  /// The text of a string, else `nil`.
  public var text: String? {
    if case .string(let text) = self { return text }
    return nil
  }

  /// The value of an integer, else `nil`.
  public var integer: Int64? {
    if case .integer(let value) = self { return value }
    return nil
  }
}

extension JSONValue {
  /// Returns true when both are alike; texts are compared by their bytes.
  public static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.double(let a), .double(let b)): a == b
    case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value)
    case .string(let text): text.hashBytes(into: &hasher)
    case .array(let elements): hasher.combine(elements)
    case .object(let members): hasher.combine(members)
    }
  }
}

extension JSONValue {
  /// Reads one JSON text.
  public init(parsing bytes: [UInt8]) throws(JSONError) {
    var reader = JSONReader(bytes)
    self = try reader.value()
    try reader.finish()
  }

  /// Reads one JSON text, as `options` say.
  package init(parsing bytes: [UInt8], _ options: JSONOptions) throws(JSONError) {
    var reader = JSONReader(bytes, options)
    self = try reader.value()
    try reader.finish()
  }

  /// Reads one JSON text.
  public init(parsing text: String) throws(JSONError) {
    try self.init(parsing: Array(text.utf8))
  }

  /// The JSON text of this value.
  public var bytes: [UInt8] {
    var writer = JSONWriter()
    writer.value(self)
    return writer.bytes
  }

  /// The JSON text of this value.
  public var json: String { String(decoding: bytes, as: UTF8.self) }
}

extension JSONReader {
  /// Reads a value of any kind.
  package mutating func value() throws(JSONError) -> JSONValue {
    switch try peek() {
    case .null, .bool:
      return try boolOrNull().map { .bool($0) } ?? .null
    case .string:
      return .string(try string())
    case .number:
      switch try number() {
      case .integer(let value): return .integer(value)
      case .double(let value): return .double(value)
      case .bool, .string, .serverValue: preconditionFailure("a number is an integer or a double")
      }
    case .array:
      var elements: [JSONValue] = []
      try beginArray()
      while try nextElement() { elements.append(try value()) }
      return .array(elements)
    case .object:
      var members: [JSONValue.Member] = []
      try beginObject()
      while let name = try nextKey() { members.append(JSONValue.Member(name, try value())) }
      return .object(members)
    }
  }
}

extension JSONWriter {
  /// Writes a value of any kind.
  package mutating func value(_ value: JSONValue) {
    switch value {
    case .null: null()
    case .bool(let value): bool(value)
    case .integer(let value): integer(value)
    case .double(let value): double(value)
    case .string(let text): string(text)
    case .array(let elements):
      beginArray()
      for element in elements { self.value(element) }
      endArray()
    case .object(let members):
      beginObject()
      for member in members {
        key(member.name)
        self.value(member.value)
      }
      endObject()
    }
  }
}
