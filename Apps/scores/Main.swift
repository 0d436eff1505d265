import ArgumentParser
import Foundation
import TernKit
import TernSampleOptions

/// `scores`: a leaderboard that works offline.
@main
struct Scores: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "A leaderboard that works offline.",
    discussion: """
      tern serve --dev                   # in another terminal, now or later
      scores ann                         # prints the leaderboard as it changes
      scores ann --add 5                 # adds five points, with or without a server
      scores --demo                      # plays with two devices in memory, and ends
      """)

  @Argument(help: "Who plays.")
  var player = "ann"

  @Option(help: "Add points, and end.")
  var add: Int?

  @OptionGroup(title: "Client")
  var client: ClientSetup

  @Flag(help: "Play with a server and two devices in memory, and end.")
  var demo = false

  func run() async throws {
    if demo { return try await LeaderboardDemo.play() }
    let tern = try await client.open(keepingIn: "scores-data")
    let board = Leaderboard(tern.tree["leaderboard"])
    try await board.keep()
    if let add {
      try await board.add(add, to: player)
      print("\(player) has \(add) more; the server will hear of it when there is one")
    } else {
      for try await lines in board.top(10) {
        print(lines.joined(separator: "\n"), terminator: "\n\n")
        // A reader at the other end of a pipe wants to see it now.
        fflush(nil)
      }
    }
    await tern.close()
  }
}
