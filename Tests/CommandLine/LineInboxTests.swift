import Testing

@testable import tern

@Suite("lines of another program", .timeLimit(.minutes(2))) struct LineInboxTests {
  private func add(_ text: String, to inbox: LineInbox) { inbox.add(Array(text.utf8)) }

  @Test("lines come one at a time, whatever the parts, and the end after them")
  func order() async {
    let inbox = LineInbox()
    for part in ["a", "b\nc", "\n", "\n", "d\nlost"] { add(part, to: inbox) }
    inbox.add([])
    #expect(await inbox.next() == "ab")
    #expect(await inbox.next() == "c")
    #expect(await inbox.next() == "")
    #expect(await inbox.next() == "d")
    #expect(await inbox.next() == nil)
    #expect(await inbox.next() == nil)
    #expect(inbox.history == ["ab", "c", "", "d"])
  }

  @Test("characters that come in two parts are whole")
  func splitCharacters() async {
    let inbox = LineInbox()
    for byte in "é😀\n".utf8 { inbox.add([byte]) }
    #expect(await inbox.next() == "é😀")
  }

  @Test("a reader takes the line that it wants, and leaves the others")
  func wanted() async {
    let inbox = LineInbox()
    add("one\ntwo\nthree\n", to: inbox)
    #expect(await inbox.line(within: .seconds(60)) { $0.hasPrefix("t") } == "two")
    #expect(await inbox.next() == "one")
    #expect(await inbox.line(within: .seconds(60)) { $0 == "three" } == "three")
    #expect(inbox.history.count == 3)
  }

  @Test("a reader who waits gets the line when it comes, the oldest reader first")
  func waiting() async {
    let inbox = LineInbox()
    async let second = inbox.line(within: .seconds(60)) { $0 == "b" }
    async let first = inbox.line(within: .seconds(60)) { $0 == "a" }
    add("b\na\n", to: inbox)
    #expect(await first == "a")
    #expect(await second == "b")
  }

  @Test("a reader whose time is over takes nothing along")
  func deadline() async {
    let inbox = LineInbox()
    #expect(await inbox.line(within: .zero) { _ in true } == nil)
    add("late\n", to: inbox)
    #expect(await inbox.next() == "late")
  }

  @Test("the end is an answer to each reader that waits")
  func end() async {
    let inbox = LineInbox()
    async let one = inbox.next()
    async let other = inbox.line(within: .seconds(60)) { $0 == "x" }
    add("y", to: inbox)
    inbox.add([])
    #expect(await one == nil)
    #expect(await other == nil)
  }
}
