import ArgumentParser
import TernClient
import TernCore

/// `tern shell`: one client that stays, with commands on standard input.
struct Shell: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Keep one client open; read commands from standard input and print what happens.",
    discussion: """
      \(ShellCommand.helpText)

      Words and flags mean what they mean for `tern doc`; quotes keep spaces in flags. \
      Every write is answered twice: `stored N` when it is safe on this device, `acknowledged N` \
      or `rejected N` when the server has decided. `settle` waits until nothing is pending. \
      `online`, `connecting`, `waiting` and `offline` tell about the connection. At the end of the \
      input the shell waits until the server has decided about all writes, as long as --timeout \
      says. Writes without a verdict are kept with --cache; without it they are lost, and the exit \
      code is 3. On a terminal lines can be edited, and the arrows bring back earlier ones.
      """)

  @Flag(help: "Start offline.")
  var offline = false

  @OptionGroup var client: ClientFlags

  func run() async throws {
    try await client.withClient { run in
      if offline { await run.goOffline() }
      let lines =
        Terminal.isInteractive ? Terminal.shared.lines(prompt: "tern> ") : StandardInput.lines
      defer { Terminal.shared.restore() }
      let room = ShellSession(run, asJSON: client.json)
      await room.reportConnection()
      await room.say("ready")
      try await untilStopped {
        for await line in lines ?? StandardInput.lines {
          guard await room.perform(line) else { break }
        }
        await room.endInput()
      }
      try await room.leave()
    }
  }
}
