import ArgumentParser
import Foundation
import TernKit
import TernServerKit

/// `guestbook`: a server in the program that uses it, with rules, users, and a web page beside it.
@main
struct GuestbookProgram: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "guestbook",
    abstract: "A server in the program that uses it, with rules, users and a web page.",
    discussion: """
      guestbook                          # serves, and shows what is written; what you type is ann's
      open Docs/Examples/guestbook.html  # in a browser: the program prints an address for ben
      guestbook --demo                   # plays with a server and two users in memory, and ends
      """)

  @Option(help: ArgumentHelp("Keep the server's data in this folder.", valueName: "folder"))
  var path = "guestbook-data"

  @Option(help: "The port on this machine; 0 takes a free one.")
  var port = 9_000

  @Flag(help: "Play with a server and two users in memory, and end.")
  var demo = false

  func run() async throws {
    if demo { return try await GuestbookDemo.play() }
    // What the server acknowledges is on its disk: the program may end at any moment.
    let host = try await GuestbookServer(
      keepingIn: path, port: port, secret: GuestbookServer.secret(in: path))
    let tern = try await host.database(for: "ann")
    let address = host.server.address
    let page = "Docs/Examples/guestbook.html#server=\(address)&token=\(try host.token(for: "ben"))"
    TerminalView.write("ben: \(page)\nlistening on \(address)\n")
    await serve(Guestbook(tern))
  }

  /// Shows the guestbook, and writes into it what is typed.
  @MainActor
  private func serve(_ guestbook: Guestbook) async {
    async let shown: Void = TerminalView(guestbook: guestbook).run()
    while let line = await Self.typedLine() { await guestbook.sign(line) }
    await shown
  }

  /// Returns the next line of standard input; `nil` at its end.
  private static func typedLine() async -> String? {
    await withCheckedContinuation { typed in
      // The call blocks its thread, which tasks must not do to theirs.
      Thread.detachNewThread { typed.resume(returning: readLine()) }
    }
  }
}
