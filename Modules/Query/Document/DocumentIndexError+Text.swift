extension DocumentIndexError: CustomStringConvertible {
  /// The reason, in words.
  public var description: String {
    switch self {
    case .malformed(let reason): reason
    case .badField(let field, _): "\"\(field)\" is no field path"
    case .tooMany(let count, let limit): "\(count) indexes, at most \(limit) are allowed"
    }
  }
}
