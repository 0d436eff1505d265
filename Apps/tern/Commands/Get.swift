import ArgumentParser
import TernClient
import TernCore

/// `tern get`: one value, once.
struct Get: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print what is at a path.",
    discussion: """
      Exits with 5, having printed null, when nothing is there. With --cache and without a server it \
      prints what this device knows; when that is not all of it, the exit code is 3.
      """)

  @Argument(help: "Where, such as rooms/42.") var path: String
  @OptionGroup var client: ClientFlags

  func run() async throws {
    try await client.withClient { run in
      let place = try run.reference(path)
      if place.path.first?.text == ".info" { await run.connect() }
      let snapshot = try await run.read(place, takesParts: true)
      printLine(
        client.json ? EventText(snapshot).line(asJSON: true) : snapshot.node.indentedJSON)
      if !snapshot.isComplete { throw run.partFailure }
      if !snapshot.exists {
        throw Failure(.notFound, "nothing is at /\(snapshot.path.text)")
      }
    }
  }
}
