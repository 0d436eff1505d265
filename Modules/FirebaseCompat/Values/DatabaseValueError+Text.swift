extension DatabaseValueError: CustomStringConvertible {
  /// The reason, and its position in the value.
  public var description: String {
    switch self {
    case .unsupportedType(let type, let path): "a value of type \(type) cannot be stored (/\(path))"
    case .valueWithChildren(let path): "\".value\" stands beside other members (/\(path))"
    case .unknownServerValue(let path): "there is no such server value (/\(path))"
    case .invalidPriority(let path):
      "a priority is a string, a finite number, a server value or nil (/\(path))"
    case .tree(let error, let path): "\(error) (/\(path))"
    }
  }
}
