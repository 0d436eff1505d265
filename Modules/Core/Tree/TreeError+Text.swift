extension TreeError: CustomStringConvertible {
  /// The broken rule, in words.
  public var description: String {
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
    case .json(let error): "not JSON at \(error)"
    }
  }
}
