import TernCore

extension TreeQueryError: CustomStringConvertible {
  /// The broken rule, in words.
  public var description: String {
    switch self {
    case .orderAlreadySet: "a query has one order"
    case .startAlreadySet: "a query has one start, and being equal is one"
    case .endAlreadySet: "a query has one end, and being equal is one"
    case .limitAlreadySet: "a query has one limit, of its first or of its last children"
    case .limitOutOfRange(let count): "a limit is in 1..<2^31, not \(count)"
    case .keyBoundNotString: "bounds of an order by key are strings"
    case .keyBoundWithKey: "bounds of an order by key take no second key"
    case .invalidPriorityBound: "bounds of priorities are null, strings or numbers"
    case .invalidBound: "a bound is null, a boolean, a number or a string"
    case .reservedChildPath(let path): "\(path) has an order of its own"
    case .emptyChildPath: "an order by child needs a path"
    case .tree(let error): error.description
    }
  }
}
