import Testing

@testable import TernTransport

@Suite("memory budget") struct MemoryBudgetTests {
  private let budget = MemoryBudget(limitBytes: 64 << 20)

  @Test("an address has a share, and others have theirs")
  func shares() {
    #expect(budget.charge(16 << 20, .receiving, to: "a"))
    #expect(!budget.charge(1, .parsing, to: "a"))
    #expect(budget.roomBytes(for: "a") == 0)
    #expect(budget.charge(16 << 20, .parsing, to: "b"))
    #expect(budget.usedBytes(for: .parsing) == 16 << 20)
    budget.release(16 << 20, .receiving, of: "a")
    #expect(budget.usedBytes(of: "a") == 0)
    #expect(budget.charge(1, .parsing, to: "a"))
  }

  @Test("other limits count from then on, and what is held stays charged")
  func resizing() {
    #expect(budget.charge(16 << 20, .waiting, to: "a"))
    budget.resize(limitBytes: 32 << 20)
    #expect(budget.limitBytes == 32 << 20)
    #expect(!budget.charge(1, .waiting, to: "a"))
    #expect(budget.usedBytes(of: "a") == 16 << 20)
    #expect(budget.roomBytes(for: "b") == 8 << 20)
    budget.resize(limitBytes: 128 << 20, addressBytes: 20 << 20)
    #expect(budget.roomBytes(for: "a") == 4 << 20)
    budget.release(16 << 20, .waiting, of: "a")
    #expect(budget.usedBytes == 0)
  }

  @Test("a client that holds little is served while others hold all they may")
  func reserve() {
    var greedy = 0
    while budget.charge(16 << 20, .waiting, to: "greedy \(greedy)") { greedy += 1 }
    #expect(greedy == 3)
    #expect(budget.charge(8 << 20, .waiting, to: "last"))
    #expect(!budget.charge(budget.floorBytes + 1, .output, to: "large"))
    #expect(!budget.isShort)
    #expect(budget.charge(budget.floorBytes, .output, to: "small"))
    #expect(budget.isShort)
    var small = 1
    while budget.charge(budget.floorBytes, .output, to: "small \(small)") { small += 1 }
    #expect(small == budget.reservedBytes / budget.floorBytes)
    #expect(budget.usedBytes <= budget.limitBytes)
  }

  @Test("output that takes half of the total makes memory short")
  func output() {
    budget.count(32 << 20, .output, to: nil)
    #expect(!budget.isShort)
    budget.count(1, .output, to: nil)
    #expect(budget.isShort)
    budget.release(1, .output, of: nil)
    #expect(!budget.isShort)
  }

  @Test("a charge is released with its object, what is held already is counted beyond the limit")
  func charges() {
    do {
      let charge = MemoryCharge(budget, .parsing, of: "a")
      charge.count(40 << 20)
      #expect(!charge.add(1))
      #expect(budget.usedBytes(of: "a") == 40 << 20)
    }
    #expect(budget.usedBytes == 0)
    #expect(budget.usedBytes(of: "a") == 0)
  }

  @Test(
    "addresses of one network of IPv6 are one account",
    arguments: [
      ("192.0.2.7", "192.0.2.7"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
      ("[2001:db8:1:2::9]", "2001:db8:1:2::"), ("2001:db8::9", "2001:db8::"), ("::1", "::1"),
      ("::ffff:192.0.2.7", "192.0.2.7"),
      // However the zeros of one network are left out in the addresses of it.
      ("2001:db8::1:2:3:4", "2001:db8::"), ("2001:db8:0:0:1::", "2001:db8::"),
      ("2001:db8:0:0:1:0:0:1", "2001:db8::"), ("2001:db8:1::9", "2001:db8:1::"),
      // Zeros that are left out in front of a group of the network are not its end.
      ("2001::7:1:2:3:4", "2001:0:0:7::"), ("2001:0:0:7::1", "2001:0:0:7::"),
      ("2001::1:0:0:7", "2001::"), ("fe80::", "fe80::"),
    ])
  func accounts(address: String, account: String) {
    #expect(MemoryBudget.account(of: address) == account)
  }
}
