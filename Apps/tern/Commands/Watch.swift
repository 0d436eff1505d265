import ArgumentParser
import TernClient
import TernCore
import TernSync

/// `tern watch`: events as they come.
struct Watch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print what happens to the children of a path, one line an event, until stopped.",
    discussion: """
      tern watch scores --order-by-value --last 4
      First each child there is, added; then every change. --value prints the whole value
      instead, now and after each change. Ctrl-C ends it. It waits for a server as long as it takes,
      whatever --timeout says, and goes on when one is back.
      """)

  @Argument(help: "Where, such as rooms.") var path: String

  @Flag(help: "Print the whole value instead of what happens to children.")
  var value = false

  @Option(help: ArgumentHelp("End after so many lines.", valueName: "lines"))
  var count: Int?

  @OptionGroup var query: QueryOptions
  @OptionGroup var client: ClientFlags

  func run() async throws {
    let query = try query.query()
    try await client.withClient { run in
      let target = TreeQueryReference(try run.reference(path), query: query)
      let reports = Task { await reportConnection(run.tern.tree.connection) }
      defer { reports.cancel() }
      try await untilStopped { try await watch(target) }
    }
  }

  private func watch(_ target: TreeQueryReference) async throws {
    var rest = count ?? .max
    guard rest > 0 else { return }
    if value {
      for try await snapshot in target.values() where snapshot.isComplete {
        printLine(EventText(snapshot).line(asJSON: client.json))
        rest -= 1
        if rest == 0 { return }
      }
    } else {
      for try await change in target.children() {
        printLine(EventText(change, below: target.reference.path).line(asJSON: client.json))
        rest -= 1
        if rest == 0 { return }
      }
    }
  }
}

/// Says on standard error when the server goes and when it is back.
func reportConnection(_ connection: ListenSequence<ConnectionState, Never>) async {
  var isAway = false
  for await state in connection {
    if state == .waiting, !isAway {
      isAway = true
      printError("tern: the server cannot be reached; trying again")
    } else if state == .online, isAway {
      isAway = false
      printError("tern: the server is back")
    }
  }
}
