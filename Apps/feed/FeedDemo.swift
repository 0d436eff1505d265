import TernKit
import TernServerKit

/// A server and two devices in one process, without a file or a port: the same story in both
/// models.
enum FeedDemo {
  /// Plays it twice; ends when both devices show the same.
  static func play() async throws {
    let assembler = Assembler(catalog: .standard)
    let server = try await assembler.server(from: .inMemory)
    let ann = try await assembler.client(from: .inMemory)
    let bob = try await assembler.client(from: .inMemory)

    print("in the tree")
    try await play(TreeFeed(tree: ann.tree, user: "ann"), TreeFeed(tree: bob.tree, user: "bob"))
    print("in documents")
    try await play(
      DocumentFeed(documents: ann.documents, user: "ann"),
      DocumentFeed(documents: bob.documents, user: "bob"))

    await ann.close()
    await bob.close()
    await server.stop()
  }

  private static func play(_ ann: some Feed, _ bob: some Feed) async throws {
    print("  ann posts to bob and cyd")
    let hello = try await ann.post("Hello", to: ["bob", "cyd"])
    try await show(bob.timeline(of: "bob", 10), until: ["ann: Hello"])
    try await show(bob.wall(10), until: ["ann: Hello"])

    print("  bob, offline, stars it twice and posts to ann; ann stars it too")
    await bob.setOnline(false)
    try await bob.star(hello)
    try await bob.star(hello)
    _ = try await bob.post("Ahoy", to: ["ann"])
    try await ann.star(hello)
    try await show(bob.wall(10), until: ["ann: Hello *", "bob: Ahoy"])

    print("  bob is back")
    await bob.setOnline(true)
    try await show(ann.wall(10), until: ["ann: Hello **", "bob: Ahoy"])
    try await show(bob.wall(10), until: ["ann: Hello **", "bob: Ahoy"])
    try await show(ann.timeline(of: "ann", 10), until: ["bob: Ahoy"])
  }

  /// Prints the posts once they are as expected.
  private static func show<Posts: AsyncSequence>(
    _ posts: Posts, until expected: [String]
  ) async throws where Posts.Element == [Post] {
    for try await shown in posts where shown.map(\.line) == expected {
      for post in shown { print("    \(post.line)") }
      return
    }
  }
}
