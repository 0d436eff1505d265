extension JSONError: CustomStringConvertible {
  /// What is wrong and where, in words.
  public var description: String { "byte \(offset): \(reason)" }
}

extension JSONError.Reason: CustomStringConvertible {
  /// What is wrong, in words.
  public var description: String {
    switch self {
    case .unexpectedEnd: "the text ends too early"
    case .unexpectedByte(let byte):
      (0x21...0x7E).contains(byte)
        ? "\(Character(UnicodeScalar(byte))) cannot stand here" : "byte \(byte) cannot stand here"
    case .trailingBytes: "something follows the value"
    case .invalidNumber: "a number is malformed"
    case .invalidString: "a string is malformed"
    case .tooDeep: "nested too deep"
    case .unexpectedType: "another type of value must stand here"
    }
  }
}
