#if TCP
  import Testing

  @testable import TernTransportTCP

  @Suite("the order of new connections") struct AcceptQueueTests {
    private func drain(_ queue: inout AcceptQueue<String>, _ count: Int = .max) -> [String] {
      var all: [String] = []
      while all.count < count, let next = queue.popNext() { all.append(next) }
      return all
    }

    @Test("an address that comes later is not behind those that opened many")
    func newcomer() {
      var queue = AcceptQueue<String>()
      for n in 1...4 {
        queue.append("a\(n)", of: "10.0.0.1")
        queue.append("b\(n)", of: "10.0.0.2")
      }
      #expect(drain(&queue, 3) == ["a1", "b1", "a2"])
      queue.append("c1", of: "10.0.0.3")
      queue.append("c2", of: "10.0.0.3")
      #expect(drain(&queue) == ["c1", "b2", "c2", "a3", "b3", "a4", "b4"])
      #expect(queue.isEmpty)
    }

    @Test("what was set up counts for later ones, and is forgotten in time")
    func memory() {
      var queue = AcceptQueue<String>()
      for n in 1...3 { queue.append("a\(n)", of: "10.0.0.1") }
      #expect(drain(&queue).count == 3)
      queue.append("a4", of: "10.0.0.1")
      queue.append("b1", of: "10.0.0.2")
      #expect(drain(&queue) == ["b1", "a4"])
      queue.age(by: 3)
      queue.append("a5", of: "10.0.0.1")
      queue.append("b2", of: "10.0.0.2")
      #expect(drain(&queue) == ["a5", "b2"])
    }

    @Test("addresses of one network of IPv6 are one")
    func networks() {
      var queue = AcceptQueue<String>()
      for n in 1...3 { queue.append("a\(n)", of: "2001:db8:0:1::\(n)") }
      queue.append("b1", of: "2001:db8:0:2::1")
      #expect(drain(&queue) == ["a1", "b1", "a2", "a3"])
    }

    @Test("all that wait are handed back at the end")
    func end() {
      var queue = AcceptQueue<String>()
      for n in 1...3 { queue.append("\(n)", of: "10.0.0.\(n % 2)") }
      #expect(queue.removeAll().sorted() == ["1", "2", "3"])
      #expect(queue.isEmpty)
      #expect(queue.popNext() == nil)
    }
  }
#endif
