public import TernCore
public import TernQuery

/// The reason a frame is no message.
///
/// Servers throw it about clients, and clients about servers. Nothing of the frame has had an
/// effect.
public enum WireError: Error, Hashable, Sendable {
  /// The frame is not JSON; close the connection.
  case json(JSONError)
  /// The envelope lacks a member or has one of a wrong type; close the connection.
  case malformed(String)
  /// The envelope is sound, the request in it is not; answer its number with a failure.
  case request(UInt64, RequestError)

  /// The rule that a request breaks.
  public enum RequestError: Error, Hashable, Sendable {
    /// A path, key or value breaks a rule of the tree.
    case tree(TreeError)
    /// The query object describes no query.
    case query(TreeQueryError)
    /// A member is missing or has a wrong type.
    case member(String)

    /// The text of a member is not JSON.
    static func json(_ error: JSONError) -> RequestError { .tree(.json(error)) }
  }
}
