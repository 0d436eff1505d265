extension JSONError: CustomStringConvertible {
  /// The position and the reason, in words; ``TextPosition`` tells the line and column.
  public var description: String { "byte \(offset): \(reason)" }
}

extension JSONError.Reason: CustomStringConvertible {
  /// The reason, in words.
  public var description: String {
    switch self {
    case .expected(.end, let found): "something follows the value\(Self.shown(found))"
    case .expected(let expectation, nil): "expected \(expectation), but the text ends"
    case .expected(let expectation, let found): "expected \(expectation)\(Self.shown(found))"
    case .invalidNumber: "a number is malformed"
    case .unfinishedString: "the string does not end"
    case .controlCharacter: "a string holds a bare control character; write it as \\n or \\u000a"
    case .invalidEscape: "unknown escape in a string"
    case .invalidUTF8: "a string is not UTF-8"
    case .loneSurrogate: "half of a surrogate pair"
    case .duplicateName: "a member of this name is there already"
    case .unfinishedComment: "the comment does not end"
    case .tooDeep(let limit): "nested more than \(limit) levels deep"
    case .tooLong(let limit): "a string or number has more than \(limit) bytes"
    }
  }

  private static func shown(_ byte: UInt8?) -> String {
    guard let byte else { return "" }
    if byte == 0x0A || byte == 0x0D { return ", found the end of the line" }
    guard (0x21...0x7E).contains(byte) else { return ", found the byte \(byte)" }
    return ", found \(Character(UnicodeScalar(byte)))"
  }
}

extension JSONError.Expectation: CustomStringConvertible {
  /// The piece of text, in words.
  public var description: String {
    switch self {
    case .value: "a value"
    case .name: "a member's name in double quotes"
    case .object: "an object"
    case .array: "an array"
    case .string: "a string in double quotes"
    case .colon: "':' after the name"
    case .commaOrBrace: "',' or '}'"
    case .commaOrBracket: "',' or ']'"
    case .literal: "true, false or null"
    case .end: "the end of the text"
    }
  }
}
