import Synchronization
import TernServer
import Testing

@testable import tern

@Suite("What a server's operator reads") struct ServerNewsTests {
  /// A clock and a log in a test's hand.
  private final class Desk: Sendable {
    private let elapsed = Mutex(Duration.zero)
    private let written = Mutex<[String]>([])
    private let start = ContinuousClock().now

    var now: ContinuousClock.Instant { start + elapsed.withLock { $0 } }
    var lines: [String] { written.withLock { $0 } }

    func wait(_ time: Duration) { elapsed.withLock { $0 += time } }
    func write(_ line: String) { written.withLock { $0.append(line) } }
  }

  @Test("a failure that comes again and again is reported once a minute, with how often it came")
  func bounded() {
    let desk = Desk()
    let news = ServerNews(now: { desk.now }, write: { line, _ in desk.write(line) })
    for _ in 0..<1_000 { news.take(.diskFull) }
    news.take(.diskHasRoom)
    #expect(desk.lines.count == 2)
    desk.wait(.seconds(61))
    news.take(.diskFull)
    #expect(desk.lines.count == 3)
    #expect(desk.lines.last?.hasSuffix("(and 999 times since this was last said)") == true)
  }
}
