import Testing

@testable import TernServer

/// Tests when free memory is given back to the system.
@Suite("Giving memory back") struct MemoryTrimTests {
  private static let mebibyte = 1 << 20

  /// Returns at which looks it is time, given what was held at each, and the most before it.
  private func due(_ looks: [(used: Int, recent: Int)]) -> [Bool] {
    var trim = MemoryTrim()
    return looks.map { look in
      trim.isDue(usedBytes: look.used * Self.mebibyte, recentBytes: look.recent * Self.mebibyte)
    }
  }

  @Test("much is given back at once, and the rest when nothing changes any more")
  func rest() {
    let looks = [(60, 100), (40, 60), (20, 40), (0, 20), (0, 0), (0, 0), (0, 0), (0, 0)]
    #expect(due(looks) == [true, false, true, false, false, true, false, false])
  }

  @Test("what a store lets go of later is given back once more, and then no more")
  func later() {
    let looks = [(0, 100)] + Array(repeating: (0, 0), count: 9)
    let wanted = [true, false, false, false, true, false, false, false, false, false]
    #expect(due(looks) == wanted)
  }

  @Test("what clients go on to use is kept")
  func busy() {
    #expect(due((0..<20).map { _ in (10, 30) }).allSatisfy { !$0 })
    #expect(due((0..<20).map { _ in (30, 30) }).allSatisfy { !$0 })
  }
}
