import TernCore

/// Reads the JSON of a rules file: with comments and strings over several lines.
///
/// Beyond RFC 8259 it skips `//` and `/* */` comments and a leading byte order mark, accepts one
/// comma after the last member or element, and takes raw control characters such as line breaks
/// inside strings. Source: realtime reference, 12.1; the Firebase console writes the comma.
struct RulesFileParser {
  /// The tokenizer, which keeps its position after an error: messages quote the name at fault.
  private var reader: JSONReader

  /// The one value of the file.
  ///
  /// - Throws: The first mistake with its byte offset: a file that is too large, not UTF-8, not
  ///   JSON, too deep, or that repeats a member's name in an object.
  static func parse(_ bytes: [UInt8], limits: RulesLimits) throws(RulesSyntaxError) -> RulesJSON {
    guard bytes.count <= limits.fileBytes else {
      throw RulesSyntaxError(
        "the file has \(bytes.count) bytes; at most \(limits.fileBytes) are allowed", at: 0)
    }
    if let offset = firstInvalidByte(of: bytes) {
      throw RulesSyntaxError("the file is not UTF-8", at: offset)
    }
    var options = JSONOptions.edited
    options.depthLimit = limits.fileDepth
    var parser = RulesFileParser(reader: JSONReader(bytes, options))
    parser.reader.skipByteOrderMark()
    do throws(JSONError) {
      let value = try parser.value()
      try parser.reader.finish()
      return value
    } catch {
      throw RulesSyntaxError(parser.words(error), at: error.offset)
    }
  }

  /// Returns the message for an error of the JSON reader, in the terms of a rules file.
  private func words(_ error: JSONError) -> String {
    switch error.reason {
    case .duplicateName: "the member \"\(reader.name(at: error.offset))\" appears twice"
    case .expected(.end, _): "expected the end of the file"
    // A word that begins like true is no value either.
    case .expected(.literal, _): "expected a value"
    case .expected(let expectation, _): "expected \(expectation)"
    default: "\(error.reason)"
    }
  }

  /// Returns the offset of the first byte that is not part of valid UTF-8; `nil` for valid text.
  ///
  /// Validation of the whole text runs first, because it is fast and nearly always succeeds.
  private static func firstInvalidByte(of bytes: [UInt8]) -> Int? {
    if String(validating: bytes, as: UTF8.self) != nil { return nil }
    var decoder = UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    var offset = 0
    while true {
      switch decoder.parseScalar(from: &iterator) {
      case .valid(let encoded): offset += encoded.count
      case .error: return offset
      case .emptyInput: return nil
      }
    }
  }

  /// Reads one value with the offset of its first character.
  private mutating func value() throws(JSONError) -> RulesJSON {
    let kind = try reader.peek()
    let start = reader.offset
    return RulesJSON(offset: start, content: try content(kind, at: start))
  }

  /// Reads the rest of a value of the given kind. Recursion is bounded by the reader's depth limit.
  ///
  /// - Parameter start: The offset of the value; errors about the value as a whole are reported
  ///   there.
  private mutating func content(
    _ kind: JSONReader.Kind, at start: Int
  ) throws(JSONError) -> RulesJSON.Content {
    switch kind {
    case .object:
      var members: [RulesJSON.Member] = []
      try reader.beginObject()
      while let name = try name() {
        let offset = reader.nameOffset
        members.append(RulesJSON.Member(name: name, nameOffset: offset, value: try value()))
      }
      return .object(members)
    case .array:
      var elements: [RulesJSON] = []
      try reader.beginArray()
      while try reader.nextElement() { elements.append(try value()) }
      return .array(elements)
    case .string:
      do throws(JSONError) {
        let (bytes, origins) = try reader.stringWithOrigins()
        return .text(RulesText(bytes, origins: origins))
      } catch {
        throw error.reason == .unfinishedString ? JSONError(error.reason, at: start) : error
      }
    // Numbers mean nothing in a rules file; where one ends is all that matters.
    case .number:
      _ = try reader.number()
      return .number
    case .bool, .null:
      do throws(JSONError) { return try reader.boolOrNull().map { .bool($0) } ?? .null } catch {
        throw JSONError(error.reason, at: start)
      }
    }
  }

  /// The name of the next member; one that does not end is told where it begins.
  private mutating func name() throws(JSONError) -> String? {
    do throws(JSONError) { return try reader.nextKey() } catch {
      throw error.reason == .unfinishedString
        ? JSONError(error.reason, at: reader.nameOffset) : error
    }
  }
}
