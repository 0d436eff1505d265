import TernKit

/// A feed in the tree.
///
/// ```
/// posts/ID       { author, text, stars: { USER: true } }
/// timelines/READER/ID   { author, text }
/// ```
struct TreeFeed: Feed {
  let tree: TreeDatabase
  let user: String

  func post(_ text: String, to readers: [String]) async throws -> String {
    // Its name sorts by time, so that the last posts are the last children.
    let id = await tree["posts"].newChild().name
    let post: TreeNode = ["author": TreeNode(.string(user)), "text": TreeNode(.string(text))]
    var values = ["posts/\(id)": post]
    for reader in readers { values["timelines/\(reader)/\(id)"] = post }
    try await tree.root.update(values)
    return id
  }

  func star(_ id: String) async throws {
    try await tree["posts"][id]["stars"][user].set(true)
  }

  func wall(_ count: Int) -> some AsyncSequence<[Post], ListenError> {
    tree["posts"].orderByKey().last(count).values().map { $0.children.map(Self.post) }
  }

  func timeline(of reader: String, _ count: Int) -> some AsyncSequence<[Post], ListenError> {
    tree["timelines"][reader].orderByKey().last(count).values().map {
      $0.children.map(Self.post)
    }
  }

  func setOnline(_ isOnline: Bool) async {
    if isOnline { await tree.goOnline() } else { await tree.goOffline() }
  }

  private static func post(_ place: TreeSnapshot) -> Post {
    Post(
      id: place.name, author: place["author"].string ?? "",
      text: place["text"].string ?? "", stars: place["stars"].children.count)
  }
}
