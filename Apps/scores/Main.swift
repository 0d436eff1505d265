import ArgumentParser
import Foundation
import TernAssembly
import TernClient
import TernStandard

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

  @Option(help: "Keep the device's data in this folder.")
  var path = "scores-data"

  @Option(help: "sqlite, lmdb or memory.")
  var storage = "sqlite"

  @Option(help: "The server's port.")
  var port = 9000

  @Flag(help: "Play with a server and two devices in memory, and end.")
  var demo = false

  func run() async throws {
    if demo { return try await LeaderboardDemo.play() }
    let configuration = Configuration(
      storage: .object(["kind": .string(storage), "path": .string(path)]),
      transport: .object(["kind": "tcp", "port": .integer(Int64(port))]))
    let tern = try await Assembler(catalog: .standard).client(from: configuration)
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
