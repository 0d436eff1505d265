extension BundleError: CustomStringConvertible {
  /// The reason, in words.
  public var description: String {
    switch self {
    case .invalidLength(let offset):
      "the element at byte \(offset) does not begin with its length, or ends early"
    case .invalidElement(let offset, let reason): "the element at byte \(offset): \(reason)"
    case .noMetadata: "it does not begin with what it says of itself"
    case .unknownVersion(let version): "version \(version) is not understood"
    case .incomplete(let documents, let bytes):
      "it holds \(documents) documents in \(bytes) bytes, and announces others"
    }
  }
}
