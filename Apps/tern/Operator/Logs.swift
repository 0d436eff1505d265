import ArgumentParser
import TernCore

/// `tern logs`: what a running server has denied of late.
struct Logs: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the last denials of a running server, by the ids that clients were shown.",
    discussion: """
      The server keeps the last 50. Everything else it has to say is on its standard error: with \
      systemd, journalctl -u tern. Asked with the token of an administrator.
      """)

  @Flag(name: .shortAndLong, help: "Go on with those that come, until Ctrl-C.") var follow = false
  @Option(help: ArgumentHelp("The denial with this id alone.", valueName: "id")) var id: String?
  @OptionGroup var admin: AdminFlags
  @OptionGroup var output: JSONFlag

  func run() async throws {
    let client = try admin.client()
    var known: [String] = []
    var isFound = false
    while true {
      let denials = try await client.object("/-/status?connections=0").list("denials")
      for denial in denials {
        let name = denial["id"]?.text ?? ""
        guard !known.contains(name), id == nil || name == id else { continue }
        isFound = true
        let text = denial["text"]?.text ?? ""
        if output.json { printLine(denial.json) } else { printLine("\(name) \(text)") }
      }
      known = denials.compactMap { $0["id"]?.text }
      if !follow { break }
      try await ContinuousClock().sleep(for: .seconds(1))
    }
    if let id, !isFound {
      throw Failure(.notFound, "the last denials have none with the id \(id)")
    }
  }
}
