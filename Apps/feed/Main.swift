import ArgumentParser
import Foundation
import TernKit
import TernSampleOptions

/// `feed`: posts and stars, in the model of your choice.
@main
struct FeedProgram: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "feed",
    abstract: "Posts and stars, kept in the tree or in documents.",
    discussion: """
      tern serve --dev                     # in another terminal, now or later
      feed ann --post Hello --to bob       # with or without a server
      feed bob                             # prints bob's timeline as it changes
      feed bob --wall                      # prints all posts, with their ids and stars
      feed bob --star ID                   # counts once, however often
      feed bob --documents                 # the same in documents; they share nothing
      feed --demo                          # plays with two devices in memory, and ends
      """)

  @Argument(help: "Who you are.")
  var user = "ann"

  @Option(help: "Post something, and end.")
  var post: String?

  @Option(parsing: .upToNextOption, help: "Who is to read it.")
  var to: [String] = []

  // Ids of the tree may begin with a hyphen.
  @Option(parsing: .unconditional, help: "Star a post, and end.")
  var star: String?

  @Flag(help: "Print what everybody posts.")
  var wall = false

  @Flag(help: "Keep it in documents, not in the tree.")
  var documents = false

  @OptionGroup(title: "Client")
  var client: ClientSetup

  @Flag(help: "Play with a server and two devices in memory, and end.")
  var demo = false

  func run() async throws {
    if demo { return try await FeedDemo.play() }
    let tern = try await client.open(keepingIn: "feed-data")
    if documents {
      try await use(DocumentFeed(documents: tern.documents, user: user))
    } else {
      try await use(TreeFeed(tree: tern.tree, user: user))
    }
    await tern.close()
  }

  private func use(_ feed: some Feed) async throws {
    if let post { return print(try await feed.post(post, to: to)) }
    if let star { return try await feed.star(star) }
    if wall {
      try await show(feed.wall(20))
    } else {
      try await show(feed.timeline(of: user, 20))
    }
  }

  private func show<Posts: AsyncSequence>(
    _ posts: Posts
  ) async throws where Posts.Element == [Post] {
    for try await shown in posts {
      print(shown.map { "\($0.id) \($0.line)" }.joined(separator: "\n"), terminator: "\n\n")
      // A reader at the other end of a pipe wants to see it now.
      fflush(nil)
    }
  }
}
