#if TCP
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
  }
#endif
