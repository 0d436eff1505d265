#if TCP
  import TernTransport
  import Testing

  @testable import TernTransportTCP

  @Suite("descriptors for connections") struct ConnectionTableTests {
    @Test("when few are left, one address does not get all of them")
    func shares() {
      let table = ConnectionTable(limit: 160)
      var greedy = 0
      while table.enter("greedy") { greedy += 1 }
      #expect(greedy == 120)
      var others = 0
      while table.enter("other \(others / 10)") { others += 1 }
      #expect(others == 40, "four addresses of ten connections")
      #expect(!table.enter("late"))
      table.leave("greedy")
      #expect(!table.enter("greedy"))
      #expect(table.enter("late"))
      for _ in 0..<119 { table.leave("greedy") }
      #expect(table.enter("greedy"))
    }

    @Test("the addresses of one IPv6 network share")
    func networks() {
      let table = ConnectionTable(limit: 160)
      var greedy = 0
      while table.enter("2001:db8::\(greedy)") { greedy += 1 }
      #expect(greedy == 120)
      #expect(table.enter("2001:db8:0:1::1"))
      table.leave("2001:db8:0:1::1")
      for number in 0..<120 { table.leave("2001:db8::\(number)") }
      #expect(table.enter("2001:db8::1"))
    }

    @Test("an address that stands for many clients gets all that are left, and no more")
    func proxies() {
      var shares = ConnectionShares()
      var count = 0
      while shares.enter("proxy", limit: 160, isProxy: true) { count += 1 }
      #expect(count == 160 && shares.count == 160)
      var isTaken = shares.enter("other", limit: 160)
      #expect(!isTaken)
      shares.leave("proxy")
      isTaken = shares.enter("proxy", limit: 160)
      #expect(!isTaken, "as a client it is over its share")
      isTaken = shares.enter("other", limit: 160)
      #expect(isTaken)
    }
  }
#endif
