import Testing

@testable import TernTransactions

@Suite("Contention")
struct ContentionTests {
  @Test("no attempt rests before some come too late")
  func calm() {
    var contention = Contention()
    #expect(contention.rest(unit: 0.99) == .zero)
    contention.attemptFailed()
    contention.attemptFailed()
    #expect(contention.rest(unit: 0.99) == .zero)
    contention.attemptFailed()
    #expect(contention.rest(unit: 0.99) == .milliseconds(4))
  }

  @Test("rests grow up to four seconds, and shrink when attempts succeed")
  func growth() {
    var contention = Contention()
    for _ in 1...100 { contention.attemptFailed() }
    #expect(contention.rest(unit: 1) == .milliseconds(4_096))
    contention.attemptSucceeded(wasDisturbed: true)
    #expect(contention.rest(unit: 1) == .milliseconds(2_048))
    for _ in 1...4 { contention.attemptSucceeded(wasDisturbed: false) }
    #expect(contention.isNone)
  }
}
