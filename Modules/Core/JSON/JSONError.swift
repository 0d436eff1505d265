/// Why a text is not acceptable JSON, and where.
public struct JSONError: Error, Hashable, Sendable {
  /// What is wrong.
  public enum Reason: Hashable, Sendable {
    /// The text ends inside a value.
    case unexpectedEnd
    /// A byte stands where it cannot.
    case unexpectedByte(UInt8)
    /// Something follows the value.
    case trailingBytes
    /// A number is malformed or beyond the range of a double.
    case invalidNumber
    /// A string holds a bare control character, a bad escape or bytes that are not UTF-8.
    case invalidString
    /// Arrays and objects nest deeper than ``JSONReader/maximumDepth``.
    case tooDeep
    /// A value has another type than the reader asked for.
    case unexpectedType
  }

  /// What is wrong.
  public let reason: Reason

  /// The offset of the offending byte.
  public let offset: Int

  /// Names what is wrong and where.
  public init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }
}
