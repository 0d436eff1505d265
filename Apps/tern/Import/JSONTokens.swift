import TernCore

/// One piece of JSON text.
enum JSONToken: Equatable {
  case beginObject, endObject, beginArray, endArray
  /// The name of the member that follows.
  case key(String)
  /// A string, number or boolean; `nil` is `null`.
  case scalar(TreeScalar?)
}

/// Why the text is not JSON, and where.
struct JSONSyntaxError: Error, Equatable {
  let offset: Int
  let reason: String
}

/// Takes JSON apart while it is read: never more than one string of it is in memory.
struct JSONTokens {
  private enum Place { case object, array }
  private enum Expectation { case value, firstItem, item, memberValue, end }

  /// The most levels of arrays and objects.
  static let maximumDepth = 512

  private(set) var source: ByteSource
  private var places: [Place] = []
  private var expectation = Expectation.value

  init(_ source: ByteSource) {
    self.source = source
  }

  /// The next piece; `nil` after the whole value, when nothing but white space follows.
  mutating func next() throws -> JSONToken? {
    if source.offset == 0 { try skipMark() }
    let byte = try skipSpace()
    switch expectation {
    case .end:
      if byte != nil { throw failure("something follows the value") }
      return nil
    case .value, .memberValue:
      return try value()
    case .firstItem:
      if byte == closing { return close() }
      return try item()
    case .item:
      if byte == closing { return close() }
      guard byte == UInt8(ascii: ",") else { throw failure("a comma or the end must stand here") }
      source.take()
      try skipSpace()
      return try item()
    }
  }

  private var closing: UInt8 {
    places.last == .object ? UInt8(ascii: "}") : UInt8(ascii: "]")
  }

  private mutating func item() throws -> JSONToken {
    guard places.last == .object else { return try value() }
    let name = try string()
    guard try skipSpace() == UInt8(ascii: ":") else { throw failure("a colon must stand here") }
    source.take()
    expectation = .memberValue
    return .key(name)
  }

  private mutating func close() -> JSONToken {
    source.take()
    let token: JSONToken = places.removeLast() == .object ? .endObject : .endArray
    expectation = places.isEmpty ? .end : .item
    return token
  }

  private mutating func open(_ place: Place) throws {
    guard places.count < Self.maximumDepth else { throw failure("nested too deep") }
    source.take()
    places.append(place)
    expectation = .firstItem
  }

  private mutating func value() throws -> JSONToken {
    let token: JSONToken
    guard let first = try skipSpace() else { throw failure("the text ends too early") }
    switch first {
    case UInt8(ascii: "{"):
      try open(.object)
      return .beginObject
    case UInt8(ascii: "["):
      try open(.array)
      return .beginArray
    case UInt8(ascii: "\""): token = .scalar(.string(try string()))
    case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"): token = .scalar(try word())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): token = .scalar(try number())
    default: throw failure("a value must stand here")
    }
    expectation = places.isEmpty ? .end : .item
    return token
  }

  /// Some editors begin every file with a byte order mark.
  private mutating func skipMark() throws {
    guard try source.peek() == 0xEF else { return }
    for byte: UInt8 in [0xEF, 0xBB, 0xBF] {
      guard try source.peek() == byte else { throw failure("a value must stand here") }
      source.take()
    }
  }

  @discardableResult
  private mutating func skipSpace() throws -> UInt8? {
    while let byte = try source.peek() {
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
      source.take()
    }
    return nil
  }

  private func failure(_ reason: String) -> JSONSyntaxError {
    JSONSyntaxError(offset: source.offset, reason: reason)
  }
}

// MARK: - Scalars

extension JSONTokens {
  private mutating func string() throws -> String {
    guard try source.peek() == UInt8(ascii: "\"") else { throw failure("a name must stand here") }
    let start = source.offset
    var raw: [UInt8] = []
    var isEscaped = false
    repeat {
      guard let byte = try source.peek() else { throw failure("a string does not end") }
      guard raw.count <= 2 * TreeLimits.stringBytes else { throw failure("a string is too long") }
      source.take()
      raw.append(byte)
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\""), raw.count > 1 {
        break
      }
    } while true
    var reader = JSONReader(raw)
    do throws(JSONError) { return try reader.string() } catch {
      throw JSONSyntaxError(offset: start, reason: "a string is malformed")
    }
  }

  private mutating func number() throws -> TreeScalar {
    let start = source.offset
    var raw: [UInt8] = []
    while let byte = try source.peek(), "+-.0123456789eE".utf8.contains(byte) {
      guard raw.count < 1_024 else { throw failure("a number is too long") }
      source.take()
      raw.append(byte)
    }
    var reader = JSONReader(raw)
    do throws(JSONError) {
      let number = try reader.number()
      try reader.finish()
      return number
    } catch {
      throw JSONSyntaxError(offset: start, reason: "a number is malformed")
    }
  }

  private mutating func word() throws -> TreeScalar? {
    let start = source.offset
    var raw: [UInt8] = []
    while let byte = try source.peek(), (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) {
      guard raw.count < 6 else { break }
      source.take()
      raw.append(byte)
    }
    switch String(decoding: raw, as: UTF8.self) {
    case "true": return .bool(true)
    case "false": return .bool(false)
    case "null": return nil
    default: throw JSONSyntaxError(offset: start, reason: "true, false or null must stand here")
    }
  }
}
