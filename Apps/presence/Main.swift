import ArgumentParser
import Foundation
import TernKit
import TernSampleOptions

/// `presence`: who is online, on which devices, and since when not.
@main
struct PresenceProgram: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "presence",
    abstract: "Who is online, on which devices, and who was seen last when.",
    discussion: """
      tern serve --dev                   # in another terminal
      presence ann --device laptop       # ann is online here, until this ends, however it ends
      presence bob --device phone        # each prints everybody, as it changes
      presence --demo                    # plays with three devices in memory, and ends
      """)

  @Argument(help: "Who you are.")
  var user = "ann"

  @Option(help: "The name of this device.")
  var device = "terminal"

  @OptionGroup(title: "Client")
  var client: ClientSetup

  @Flag(help: "Play with a server and three devices in memory, and end.")
  var demo = false

  func run() async throws {
    if demo { return try await PresenceDemo.play() }
    let tern = try await client.open(keepingIn: nil)
    let presence = Presence(tern.tree, user: user, device: device)
    let announcing = Task { try await presence.announce() }
    for try await lines in presence.everybody() {
      print(lines.joined(separator: "\n"), terminator: "\n\n")
      // A reader at the other end of a pipe wants to see it now.
      fflush(nil)
    }
    announcing.cancel()
    await tern.close()
  }
}
