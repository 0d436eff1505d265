import TernCore

/// One piece of JSON text.
enum JSONToken: Equatable {
  case beginObject, endObject, beginArray, endArray
  /// The name of the member that follows.
  case key(String)
  /// A string, number or boolean; `nil` is `null`.
  case scalar(TreeScalar?)
}

/// The reason the text is not JSON, with its position.
struct JSONSyntaxError: Error, Equatable {
  let position: TextPosition
  let reason: JSONError.Reason
}

/// Takes JSON apart while it is read: little more than one string of it is in memory.
struct JSONTokens {
  /// The most levels of arrays and objects.
  static let depthLimit = 512
  /// The most bytes of a piece: an escape is longer than the character that it stands for.
  static let tokenBytes = 2 * TreeLimits.stringBytes

  /// An error this close to the end of a part may be about a piece that goes on in the next one.
  private static let reach = 1_024

  private enum Place { case object, array }

  /// Answers the next part, empty at the end.
  private let refill: () throws -> [UInt8]
  private var reader: JSONReader
  private var places: [Place] = []
  private var awaitsValue = true
  private var isAtEnd = false

  /// The number of bytes read so far.
  var offset: Int { reader.offset }

  init(refill: @escaping () throws -> [UInt8]) {
    self.refill = refill
    reader = JSONReader([], JSONOptions(depthLimit: Self.depthLimit))
  }

  /// The next piece; `nil` after the whole value, when nothing but white space follows.
  mutating func next() throws -> JSONToken? {
    while true {
      let before = (reader, places, awaitsValue)
      do throws(JSONError) {
        let token = try step()
        // A number at the end of a part may have more digits in the next one.
        if isAtEnd || reader.unreadBytes > 0 { return token }
      } catch {
        let left = reader.offset + reader.unreadBytes - error.offset
        if isAtEnd || left > Self.reach { throw syntaxError(error) }
      }
      (reader, places, awaitsValue) = before
      try load()
    }
  }

  private mutating func step() throws(JSONError) -> JSONToken? {
    guard let place = places.last else {
      guard awaitsValue else {
        try reader.finish()
        return nil
      }
      awaitsValue = false
      reader.skipByteOrderMark()
      return try value()
    }
    if awaitsValue {
      awaitsValue = false
      return try value()
    }
    switch place {
    case .object:
      guard let name = try reader.nextKey() else { return close(.endObject) }
      awaitsValue = true
      return .key(name)
    case .array: return try reader.nextElement() ? try value() : close(.endArray)
    }
  }

  private mutating func close(_ token: JSONToken) -> JSONToken {
    places.removeLast()
    return token
  }

  private mutating func value() throws(JSONError) -> JSONToken {
    switch try reader.peek() {
    case .object:
      try reader.beginObject()
      places.append(.object)
      return .beginObject
    case .array:
      try reader.beginArray()
      places.append(.array)
      return .beginArray
    case .string: return .scalar(.string(try reader.string()))
    case .number: return .scalar(try reader.number())
    case .bool, .null: return .scalar(try reader.boolOrNull().map { .bool($0) })
    }
  }

  /// Reads on, twice as far each time that the same piece does not end.
  private mutating func load() throws {
    let unread = reader.unreadBytes
    guard unread <= Self.tokenBytes else {
      throw syntaxError(JSONError(.tooLong(limit: Self.tokenBytes), at: reader.offset))
    }
    var more: [UInt8] = []
    repeat {
      let part = try refill()
      isAtEnd = part.isEmpty
      more += part
    } while !isAtEnd && more.count < unread
    reader.append(more)
  }

  private func syntaxError(_ error: JSONError) -> JSONSyntaxError {
    JSONSyntaxError(position: reader.position(at: error.offset), reason: error.reason)
  }
}
