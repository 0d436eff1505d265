import ArgumentParser
import TernClient
import TernCore

/// `tern query`: some children in an order, once.
struct Query: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the children that a query selects, one a line, in its order.",
    discussion: """
      tern query languages --order-by-child name --start-at '"Z"' --first 5
      Exits with 5 when the query selects nothing.
      """)

  @Argument(help: "Whose children.") var path: String
  @OptionGroup var query: QueryOptions
  @OptionGroup var client: ClientFlags

  func run() async throws {
    let query = try query.query()
    try await client.withClient { run in
      let target = TreeQueryReference(try run.reference(path), query: query)
      let snapshot = try await run.read(target, takesParts: true)
      for child in snapshot.children {
        let name = child.key?.text ?? ""
        printLine(
          client.json
            ? EventText(child).line(asJSON: true) : "\(name) \(child.node.json(.value))")
      }
      if !snapshot.isComplete { throw run.partFailure }
      if !snapshot.exists {
        throw Failure(.notFound, "the query selects nothing at /\(snapshot.path.text)")
      }
    }
  }
}
