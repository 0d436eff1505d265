import Foundation
import Testing

@testable import tern

@Suite("signals", .serialized) struct SignalTests {
  @Test("every signal is heard")
  func everyOne() async throws {
    let heard = AsyncStream.makeStream(of: Void.self)
    SignalPipe.shared.listen(to: SIGUSR1) { heard.continuation.yield() }
    let deadline = Task {
      try await ContinuousClock().sleep(for: patience)
      heard.continuation.finish()
    }
    defer { deadline.cancel() }
    var signals = heard.stream.makeAsyncIterator()
    for number in 1...2_000 {
      kill(getpid(), SIGUSR1)
      try #require(await signals.next() != nil, "signal \(number) of 2,000 was not heard")
    }
  }
}
