import TernTransport
import Testing

@Suite("The memory budget against a plain model")
struct MemoryModelTests {
  /// Numbers that follow from a seed: a linear congruence, which suffices here.
  private struct Numbers {
    var state: UInt64

    mutating func roll(_ count: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % count
    }
  }

  private struct Held {
    let bytes: Int
    let use: MemoryBudget.Use
    let address: String
    let user: String?
  }

  /// The addresses, two of which are of one network.
  private static let addresses = ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"]

  private func isAlike(_ left: String, _ right: String) -> Bool {
    left == right || left.contains(":") && right.contains(":")
  }

  @Test(
    "what is charged is what is held, and no share is exceeded by a charge",
    arguments: UInt64(1)...25)
  func model(seed: UInt64) {
    var random = Numbers(state: seed)
    let budget = MemoryBudget(limitBytes: 8 << 20, addressBytes: 3 << 20, identityBytes: 2 << 20)
    var held: [Held] = []
    for _ in 0..<200 {
      let address = Self.addresses[random.roll(4)]
      let user: String? = [nil, "ada", "bob"][random.roll(3)]
      let use = MemoryBudget.Use.allCases[random.roll(7)]
      let bytes = [1, 100, 40 << 10, 300 << 10, 1 << 20][random.roll(5)]
      switch random.roll(5) {
      case 0...2:
        let ofAddress = held.filter { isAlike($0.address, address) }.reduce(bytes) { $0 + $1.bytes }
        let ofUser = held.filter { $0.user == user }.reduce(bytes) { $0 + $1.bytes }
        let all = held.reduce(bytes) { $0 + $1.bytes }
        let isSmall = ofAddress <= budget.floorBytes && all <= 8 << 20
        let isInShare = ofAddress <= 3 << 20 && all <= 7 << 20
        let fits = (isSmall || isInShare) && (user == nil || ofUser <= 2 << 20)
        let room = budget.roomBytes(for: address, user: user)
        #expect((bytes <= room) == fits, "seed \(seed): \(bytes) of \(room)")
        #expect(budget.charge(bytes, use, to: address, user: user) == fits)
        if fits { held.append(Held(bytes: bytes, use: use, address: address, user: user)) }
      case 3:
        guard random.roll(4) == 0 else { continue }
        budget.count(bytes, use, to: address, user: user)
        held.append(Held(bytes: bytes, use: use, address: address, user: user))
      default:
        guard !held.isEmpty else { continue }
        let gone = held.remove(at: random.roll(held.count))
        budget.release(gone.bytes, gone.use, of: gone.address, user: gone.user)
      }
      #expect(budget.usedBytes == held.reduce(0) { $0 + $1.bytes })
      for address in Self.addresses {
        let sum = held.filter { isAlike($0.address, address) }.reduce(0) { $0 + $1.bytes }
        #expect(budget.usedBytes(of: address) == sum)
      }
      for user in ["ada", "bob"] {
        let sum = held.filter { $0.user == user }.reduce(0) { $0 + $1.bytes }
        #expect(budget.usedBytes(ofUser: user) == sum)
      }
    }
    for gone in held { budget.release(gone.bytes, gone.use, of: gone.address, user: gone.user) }
    #expect(budget.usedBytes == 0)
    for use in MemoryBudget.Use.allCases { #expect(budget.usedBytes(for: use) == 0) }
  }

  @Test("the peak is that since the last reading")
  func peaks() {
    let budget = MemoryBudget(limitBytes: 1 << 20)
    #expect(budget.charge(100, .parsing, to: "a"))
    budget.release(60, .parsing, of: "a")
    #expect(budget.takePeak() == 100)
    #expect(budget.takePeak() == 40, "what is held counts for the next reading")
    #expect(budget.charge(1, .parsing, to: "a"))
    #expect(budget.takePeak() == 41)
  }

  @Test(
    "bytes go with a session to its next user, whatever the limits say",
    arguments: [0, 1, 99, 100, 101])
  func transfers(bytes: Int) {
    let budget = MemoryBudget(limitBytes: 1 << 20, identityBytes: 100)
    budget.count(bytes, .listens, to: "a", user: "ada")
    #expect(budget.transfer(bytes, from: "ada", to: "bob") == (bytes <= 100))
    #expect(budget.usedBytes(ofUser: "ada") == 0 && budget.usedBytes(ofUser: "bob") == bytes)
    #expect(budget.transfer(bytes, from: "bob", to: "bob"))
    #expect(budget.transfer(bytes, from: "bob", to: nil))
    #expect(budget.usedBytes(ofUser: "bob") == 0 && budget.usedBytes == bytes)
  }

  @Test("frames for many links take a transport's form once, and each transport its own")
  func forms() {
    struct One: Equatable { let frames: [[UInt8]] }
    struct Other: Equatable { let count: Int }
    let shared = SharedFrames([[1], [2, 3]])
    var made = 0
    for _ in 0..<3 {
      let one = shared.form { frames in
        made += 1
        return One(frames: frames)
      }
      let other = shared.form { frames in
        made += 1
        return Other(count: frames.count)
      }
      #expect(one == One(frames: [[1], [2, 3]]) && other == Other(count: 2))
    }
    #expect(made == 2)
  }
}
