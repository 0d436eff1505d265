/// The reason a text is not acceptable JSON, with its position.
public struct JSONError: Error, Hashable, Sendable {
  /// The rule of JSON that the text breaks.
  public enum Reason: Hashable, Sendable {
    /// Something else stands where this was expected; `found` is its first byte, `nil` at the end
    /// of the text.
    case expected(Expectation, found: UInt8?)
    /// A number is malformed or beyond the range of a double.
    case invalidNumber
    /// A string does not end.
    case unfinishedString
    /// A string holds a bare control character, such as a line break.
    case controlCharacter
    /// A string holds an unknown escape, or `\u` without four hexadecimal digits.
    case invalidEscape
    /// A string holds bytes that are not UTF-8.
    case invalidUTF8
    /// A string holds half of a surrogate pair, where the reader was told to reject that.
    case loneSurrogate
    /// An object has two members of the name that begins here, where the reader was told to reject
    /// that.
    case duplicateName
    /// A comment does not end.
    case unfinishedComment
    /// Arrays and objects nest deeper than the reader allows.
    case tooDeep(limit: Int)
    /// A string or a number is longer than the reader allows, in bytes.
    case tooLong(limit: Int)
  }

  /// The piece of text that belongs at a place.
  public enum Expectation: Hashable, Sendable {
    /// The names of the pieces.
    case value, name, object, array, string, colon, commaOrBrace, commaOrBracket, literal, end
  }

  /// The rule of JSON that the text breaks.
  public let reason: Reason

  /// The offset of the offending byte.
  public let offset: Int

  /// Names what is wrong and where.
  public init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }
}
