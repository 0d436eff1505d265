import Foundation
import Testing

@testable import tern

@Suite("signals", .serialized) struct SignalTests {
  @Test("every signal is heard", .timeLimit(.minutes(10)))
  func everyOne() async throws {
    let heard = AsyncStream.makeStream(of: Void.self)
    SignalPipe.shared.listen(to: SIGUSR1) { heard.continuation.yield() }
    var signals = heard.stream.makeAsyncIterator()
    for number in 1...200 {
      kill(getpid(), SIGUSR1)
      try #require(await signals.next() != nil, "signal \(number) of 200 was not heard")
    }
  }
}
