import TernCore
import TernQuery

extension TreeError {
  /// The broken rule, in words.
  var rule: String {
    switch self {
    case .emptyKey: "a key must not be empty"
    case .invalidKey(let key):
      "the key \"\(key)\" is not allowed: keys hold no . # $ / [ ] and no control characters"
    case .keyTooLong(let count, let limit): "a key of \(count) bytes; the limit is \(limit)"
    case .tooDeep(let count, let limit): "\(count) levels below the root; the limit is \(limit)"
    case .stringTooLong(let count, let limit): "a string of \(count) bytes; the limit is \(limit)"
    case .notFinite: "a number must be finite"
    case .invalidPriority: "a priority must be a string, a number or null"
    case .invalidLeaf: ".value must hold a string, a number or a boolean, and nothing beside it"
    case .invalidServerValue: ".sv must hold \"timestamp\" or {\"increment\": number}"
    case .overlappingPaths(let one, let other): "the paths \(one) and \(other) overlap"
    case .pathTooLong(_, let limit): "the path down to a value has more than \(limit) bytes"
    case .readOnly(let path): "\(path) cannot be written"
    case .json(let error): "not JSON at byte \(error.offset): \(error.reason.text)"
    }
  }
}

extension TreeQueryError {
  /// The broken rule, in words.
  var rule: String {
    switch self {
    case .orderAlreadySet: "only one order can be given"
    case .startAlreadySet: "only one start can be given; --equal-to is one"
    case .endAlreadySet: "only one end can be given; --equal-to is one"
    case .limitAlreadySet: "only one of --first and --last can be given"
    case .limitOutOfRange(let count): "a limit must be in 1..<2^31, not \(count)"
    case .keyBoundNotString: "bounds of --order-by-key must be strings"
    case .keyBoundWithKey: "bounds of --order-by-key take no second key"
    case .invalidPriorityBound: "bounds of priorities must be null, strings or numbers"
    case .invalidBound: "a bound must be null, a boolean, a number or a string"
    case .reservedChildPath(let path): "\(path) has a flag of its own"
    case .emptyChildPath: "--order-by-child needs a path"
    case .tree(let error): error.rule
    }
  }
}

extension ImportError {
  /// What is wrong and where.
  var text: String {
    switch self {
    case .syntax(let error): "byte \(error.offset): \(error.reason)"
    case .rule(let error, let path): "\(path.isEmpty ? "/" : path): \(error.rule)"
    case .missingField(let field, let path):
      "\(path): there is no string or integer under \"\(field)\" to name this member by"
    }
  }
}

extension JSONError.Reason {
  /// What is wrong, in words.
  var text: String {
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
