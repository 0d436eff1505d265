#if TCP
  import NIOCore
  import Testing

  @testable import TernTransportTCP

  @Suite("the pace of new connections") struct SetupPaceTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    @Test("an interval is credit for one connection, and a part of it is not lost")
    func credit() {
      var pace = SetupPace(at: start)
      #expect(pace.take(5, at: start) == 0)
      #expect(pace.take(5, at: start + .microseconds(1_400)) == 2)
      #expect(pace.next == start + .microseconds(1_500))
      #expect(pace.take(5, at: start + .microseconds(1_500)) == 1)
    }

    @Test("credit that is not used is kept, up to a burst")
    func burst() {
      var pace = SetupPace(at: start)
      let later = start + .seconds(1)
      #expect(pace.take(3, at: later) == 3)
      #expect(pace.take(100, at: later) == SetupPace.share - 3)
      #expect(pace.take(100, at: later) == 0)
    }

    @Test("late wakeups make the interval longer, within bounds, and punctual ones shorter again")
    func lateness() {
      var pace = SetupPace(at: start)
      pace.noteWakeup(at: start + .seconds(1), for: start)
      #expect(pace.interval == .microseconds(1_000), "one long turn says little")
      for _ in 0..<100 { pace.noteWakeup(at: start + .milliseconds(1), for: start) }
      #expect(pace.interval > .microseconds(1_499) && pace.interval <= .microseconds(1_501))
      for _ in 0..<100 { pace.noteWakeup(at: start + .milliseconds(30), for: start) }
      #expect(pace.interval == SetupPace.mostInterval)
      for _ in 0..<200 { pace.noteWakeup(at: start, for: start) }
      #expect(pace.interval < .microseconds(501))
    }

    @Test("an address may open its rate, and a burst after a rest")
    func rate() {
      var rate = ConnectionRate(perSecond: 100)
      var taken = 0
      for _ in 0..<6_000 where rate.take("10.0.0.1", at: start) { taken += 1 }
      #expect(taken == 5_000)
      let others = ["10.0.0.2", "2001:db8::1", "2001:db8::2"].filter { rate.take($0, at: start) }
      #expect(others.count == 3)
      #expect(rate.knownCount == 3, "a network is one account")
      let later = start + .seconds(1)
      taken = 0
      for _ in 0..<6_000 where rate.take("10.0.0.1", at: later) { taken += 1 }
      #expect(taken == 100)
      rate.forget(at: later)
      #expect(rate.knownCount == 1)
      rate.forget(at: later + .seconds(50))
      #expect(rate.knownCount == 0)
    }

    @Test("without a rate nothing is remembered")
    func unlimited() {
      var rate = ConnectionRate(perSecond: nil)
      let taken = (0..<10_000).count { _ in rate.take("10.0.0.1", at: start) }
      #expect(taken == 10_000)
      #expect(rate.knownCount == 0)
    }
  }
#endif
