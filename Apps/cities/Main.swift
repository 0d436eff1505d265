import ArgumentParser
import Foundation
import TernKit
import TernSampleOptions

/// `cities`: the largest cities of a country, with or without a server.
@main
struct CitiesProgram: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cities",
    abstract: "The largest cities of a country, with or without a server.",
    discussion: """
      tern serve --dev                         # in another terminal, now or later
      cities NO                                # prints the largest as they change
      cities NO --add Oslo --population 700000 # writes one down, with or without a server
      cities NO --grow Oslo                    # one more person lives there
      cities --demo                            # plays with two devices in memory, and ends
      """)

  @Argument(help: "Which country.")
  var country = "NO"

  @Option(help: "Write a city down, and end.")
  var add: String?

  @Option(help: "How many live in it.")
  var population = 1

  @Option(help: "Let a city grow by one, and end.")
  var grow: String?

  @OptionGroup(title: "Client")
  var client: ClientSetup

  @Flag(help: "Play with a server and two devices in memory, and end.")
  var demo = false

  func run() async throws {
    if demo { return try await CitiesDemo.play() }
    let tern = try await client.open(keepingIn: "cities-data")
    let cities = Cities(tern.documents)
    if let add {
      try await cities.add([City(name: add, country: country, population: population)])
      print("\(add) is written down; the server will hear of it when there is one")
    } else if let grow {
      try await cities.grow(grow, by: 1)
      print("\(grow) has grown; the server will hear of it when there is one")
    } else {
      for try await lines in cities.board(10, in: country) {
        print(lines.joined(separator: "\n"), terminator: "\n\n")
        // A reader at the other end of a pipe wants to see it now.
        fflush(nil)
      }
    }
    await tern.close()
  }
}
