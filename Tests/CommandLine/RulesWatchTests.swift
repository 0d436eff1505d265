import Testing

@testable import tern

@Suite("Following a rules file") struct RulesWatchTests {
  private func mark(_ bytes: Int, at written: Double = 0, number: UInt64 = 1) -> FileMark {
    FileMark(bytes: bytes, written: written, number: number)
  }

  @Test("a file that stays as it is is never read again")
  func unchanged() {
    var watch = RulesWatch(mark(10))
    for _ in 0..<5 { #expect(watch.look(mark(10)) == .nothing) }
  }

  @Test(
    "a file of another size, another time or in another's place is read once it rests",
    arguments: [
      FileMark(bytes: 11, written: 0, number: 1), FileMark(bytes: 10, written: 1, number: 1),
      FileMark(bytes: 10, written: 0, number: 2),
    ])
  func changed(to other: FileMark) {
    var watch = RulesWatch(mark(10))
    #expect(watch.look(other) == .nothing, "it may be under way")
    #expect(watch.look(other) == .read)
    #expect(watch.look(other) == .nothing)
    #expect(watch.look(mark(10)) == .nothing)
    #expect(watch.look(mark(10)) == .read, "back is a change as well")
  }

  @Test("a file that grows is not read before it is whole")
  func growing() {
    var watch = RulesWatch(mark(10))
    for bytes in 11...20 { #expect(watch.look(mark(bytes)) == .nothing) }
    #expect(watch.look(mark(20)) == .read)
  }

  @Test("a missing file is reported once, and read when another comes")
  func gone() {
    var watch = RulesWatch(mark(10))
    #expect(watch.look(nil) == .reportGone)
    #expect(watch.look(nil) == .nothing)
    #expect(watch.look(mark(12)) == .nothing)
    #expect(watch.look(mark(12)) == .read)
    #expect(watch.look(nil) == .reportGone)
    #expect(watch.look(mark(12)) == .nothing)
    #expect(watch.look(mark(12)) == .nothing, "the same is back")
  }
}
