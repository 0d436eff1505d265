import TernCore
import TernQuery

extension TreeError {
  /// The broken rule, in words.
  var rule: String { description }
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
  /// The reason and its position.
  var text: String {
    switch self {
    case .syntax(let error): "\(error.position): \(error.reason)"
    case .rule(let error, let path): "\(path.isEmpty ? "/" : path): \(error.rule)"
    case .missingField(let field, let path):
      "\(path): there is no string or integer under \"\(field)\" to name this member by"
    }
  }
}
