import ArgumentParser
import TernClient
import TernCore

/// `tern shell`: one client that stays, with commands on standard input.
struct Shell: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Keep one client open; read commands from standard input and print what happens.",
    discussion: """
      set PATH JSON      update PATH JSON     push PATH JSON     remove PATH
      get PATH           watch PATH           unwatch PATH       pending
      offline            online               settle             exit

      doc get PATH       doc set [--merge] PATH JSON             doc update PATH JSON
      doc delete PATH    doc query COLLECTION [FLAGS]            doc collections [PATH]
      doc watch PATH [FLAGS]                  doc unwatch PATH

      Words and flags mean what they mean for `tern doc`; quotes keep spaces in flags. \
      Every write is answered twice: `stored N` when it is safe on this device, `acknowledged N` \
      or `rejected N` when the server has decided. `settle` waits until nothing is pending. \
      `online`, `connecting`, `waiting` and `offline` tell about the connection.
      """)

  @Flag(help: "Start offline.")
  var offline = false

  @OptionGroup var client: ClientFlags

  func run() async throws {
    try await client.withClient { run in
      if offline { await run.goOffline() }
      let room = ShellRoom(run, asJSON: client.json)
      await room.reportConnection()
      await room.say("ready")
      try await untilStopped {
        for try await line in StandardInput.lines {
          guard await room.perform(line) else { return }
        }
      }
      await room.leave()
    }
  }
}
