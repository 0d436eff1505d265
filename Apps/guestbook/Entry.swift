import TernKit

/// One entry of the guestbook, as it is kept below `entries/KEY`.
struct Entry: Codable, Sendable, Identifiable {
  /// The key of its node.
  @NodeKey var id: String? = nil
  var author: String
  var text: String
  /// The time of the commit, by the server's clock.
  @ServerTimestamp var at: Date? = nil
}
