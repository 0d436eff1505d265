/// The reason a bundle cannot be loaded; nothing of it is applied. Source: documents reference,
/// section 5.13.
public enum BundleError: Error, Hashable, Sendable {
  /// An element does not begin with the number of its bytes, or ends early.
  case invalidLength(offset: Int)
  /// An element is not what a bundle may hold at its place.
  case invalidElement(offset: Int, reason: String)
  /// The bundle does not begin with what it says of itself.
  case noMetadata
  /// The bundle is of a version that is not understood.
  case unknownVersion(Int)
  /// There are fewer or more documents or bytes than announced.
  case incomplete(documents: Int, bytes: Int)
}
