import Testing

@testable import TernCore

@Suite("Key order and validity")
struct TreeKeyTests {
  @Test("integers come first, then text by UTF-16")
  func order() {
    let ascending = [
      "-2147483648", "0", "1", "2", "10", "2147483647", "-2147483649", "-2147483650", "-a",
      "2147483648", "21474836480", "2147483649", "a",
    ].map { TreeKey(unchecked: $0) }
    for (index, key) in ascending.enumerated() {
      for (other, right) in ascending.enumerated() {
        #expect((key < right) == (index < other), "\(key) \(right)")
      }
    }
  }

  @Test("equal numbers put the shorter text first")
  func zeros() {
    #expect(TreeKey("1") < TreeKey("01"))
    #expect(TreeKey("01") < TreeKey("001"))
    #expect(TreeKey("001") < TreeKey("2"))
    #expect(TreeKey("-0") != TreeKey("00"))
  }

  @Test("supplementary planes sort before U+E000 and above")
  func utf16() {
    #expect(TreeKey("\u{1F600}") < TreeKey("\u{E000}"))
    #expect(TreeKey("abcdefgh\u{10FFFF}") < TreeKey("abcdefgh\u{FFFD}"))
    #expect(TreeKey("\u{D7FF}") < TreeKey("\u{1F600}"))
    #expect(TreeScalar.string("\u{1F600}") < .string("\u{E000}"))
  }

  @Test("equality is that of bytes")
  func bytes() {
    #expect(TreeKey("\u{E9}") != TreeKey("e\u{301}"))
    #expect(TreeScalar.string("\u{E9}") != .string("e\u{301}"))
  }

  @Test("forbidden names", arguments: ["", "a.b", "a#", "$x", "a/b", "[", "]", "a\u{1}", "\u{7F}"])
  func forbidden(name: String) {
    #expect(throws: TreeError.self) { try TreeKey(name) }
  }

  @Test("768 bytes pass, 769 fail")
  func length() throws {
    _ = try TreeKey(String(repeating: "x", count: 768))
    #expect(throws: TreeError.keyTooLong(byteCount: 769, limit: 768)) {
      try TreeKey(String(repeating: "x", count: 769))
    }
  }

  @Test("paths drop empty segments and know their ancestors")
  func paths() throws {
    #expect(try path("//a///b/") == "a/b")
    #expect(try path("/").isRoot)
    #expect(try path(".info/connected").isInfo)
    #expect(throws: TreeError.self) { try path("a/.info") }
    #expect(try TreePath(writable: "a/.priority").namesPriority)
    #expect(try TreePath(writable: "/.priority").count == 1)
    #expect(throws: TreeError.self) { try TreePath(writable: "a.priority") }
    let long: TreePath = "a/b/c"
    #expect(long.relative(to: "a") == "b/c")
    #expect(long.relative(to: "a/x") == nil)
    #expect(TreePath("a").contains(long))
    #expect(TreePath("a") < long)
  }
}
