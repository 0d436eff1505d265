/// Posts of users, and the stars they get.
///
/// It has two implementations with the same behavior: ``TreeFeed`` keeps it in the tree,
/// ``DocumentFeed`` in documents. Both keep one shared copy of a post, and one more on the timeline
/// of every reader.
protocol Feed: Sendable {
  associatedtype Wall: AsyncSequence where Wall.Element == [Post]
  associatedtype Timeline: AsyncSequence where Timeline.Element == [Post]

  /// Writes a post to the shared list and to the timeline of every reader, all or nothing.
  ///
  /// - Returns: The id of the post, when it is safe on this device.
  func post(_ text: String, to readers: [String]) async throws -> String

  /// Stars a post. It counts once for each user, however often and on however many devices.
  func star(_ id: String) async throws

  /// The last posts with their stars, the oldest first, now and whenever that changes.
  func wall(_ count: Int) -> Wall

  /// Returns the timeline of a reader, now and after every change.
  func timeline(of reader: String, _ count: Int) -> Timeline

  /// Works without a server, or with one again.
  func setOnline(_ isOnline: Bool) async
}

/// A post as it is shown.
struct Post: Hashable, Sendable {
  let id: String
  let author: String
  let text: String
  var stars = 0

  /// The post on one line.
  var line: String {
    "\(author): \(text)" + (stars == 0 ? "" : " " + String(repeating: "*", count: stars))
  }
}
