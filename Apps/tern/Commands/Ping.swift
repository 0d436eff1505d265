import ArgumentParser
import TernClient
import TernCore
import TernSync

/// `tern ping`: whether a server answers, and how fast.
struct Ping: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Connect to a server, ask it something, and print how long both took.",
    discussion: "Exits with 3 when the server cannot be reached, with 4 when it refuses the token.")

  @OptionGroup var client: ClientFlags

  func run() async throws {
    try await client.withClient { run in
      let start = ContinuousClock().now
      guard await run.connect() else { throw run.news.failure }
      let connected = ContinuousClock().now
      // What is denied is answered too; the place needs not exist.
      do { _ = try await run.read(try run.reference("tern-ping")) } catch let failure as Failure {
        guard failure.code == .refused else { throw failure }
      }
      let answered = ContinuousClock().now
      let times = (start.duration(to: connected), connected.duration(to: answered))
      if client.json {
        printLine(
          jsonLine([
            "server": .string(run.news.address),
            "connectMilliseconds": .double(times.0.milliseconds),
            "answerMilliseconds": .double(times.1.milliseconds),
          ]))
      } else {
        printLine(
          "\(run.news.addressText) is up: connected in \(times.0.milliseconds) ms, "
            + "answered in \(times.1.milliseconds) ms")
      }
    }
  }
}

extension ClientRun {
  /// Waits for a connection of the tree; `false` when the time is over or the server away.
  @discardableResult
  func connect() async -> Bool {
    await tern.tree.goOnline()
    let online: Void? = await firstAnswer(.reachable(nil)) {
      for await state in tern.tree.connection where state == .online { return }
    }
    return online != nil
  }
}

extension Duration {
  /// Milliseconds with two digits behind the point.
  fileprivate var milliseconds: Double {
    let (seconds, attoseconds) = components
    let exact = Double(seconds) * 1_000 + Double(attoseconds) / 1e15
    return (exact * 100).rounded() / 100
  }
}
