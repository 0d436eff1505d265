import ArgumentParser
import TernClient
import TernCore

/// `tern get`: one value, once.
struct Get: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print what is at a path.",
    discussion: "Exits with 5, having printed null, when nothing is there.")

  @Argument(help: "Where, such as rooms/42.") var path: String
  @OptionGroup var client: ClientFlags

  func run() async throws {
    try await client.withClient { run in
      let snapshot = try await run.read(try run.reference(path))
      printLine(
        client.json ? EventText(snapshot).line(asJSON: true) : snapshot.node.indentedJSON)
      if !snapshot.exists {
        throw Failure(.notFound, "nothing is at /\(snapshot.path.text)")
      }
    }
  }
}
