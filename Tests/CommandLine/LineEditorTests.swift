import Testing

@testable import tern

@Suite("a line on a terminal") struct LineEditorTests {
  /// Feeds bytes as a terminal sends them, and answers the lines that were entered.
  private func lines(_ bytes: String, in editor: inout LineEditor) -> [String] {
    var decoder = KeyDecoder()
    var lines: [String] = []
    for byte in bytes.utf8 {
      guard let key = decoder.keys(byte) else { continue }
      switch editor.press(key) {
      case .goesOn: break
      case .entered(let line): lines.append(line)
      case .ended: lines.append("(end)")
      }
    }
    return lines
  }

  @Test(
    "keys edit the line",
    arguments: [
      ("get a\r", "get a"), ("ab\u{7F}c\r", "ac"), ("bc\u{1B}[Da\u{1}x\u{5}y\r", "xbacy"),
      ("ac\u{1B}[D\u{1B}[Db\u{1B}[C\u{1B}[3~d\r", "bad"), ("one two\u{17}three\r", "one three"),
      ("abc\u{2}\u{B}\r", "ab"), ("abc\u{2}\u{15}\r", "c"), ("é😀\u{7F}\r", "é"),
      ("a\u{1B}[1;5Db\r", "ba"), ("a\u{1B}Oqb\r", "ab"), ("a\u{4}\r", "a"),
    ])
  func editing(keys: String, line: String) {
    var editor = LineEditor(prompt: "> ")
    #expect(lines(keys, in: &editor) == [line])
  }

  @Test("arrows bring back earlier lines, and the one that was begun")
  func history() {
    var editor = LineEditor(prompt: "> ")
    let up = "\u{1B}[A"
    let down = "\u{1B}[B"
    #expect(lines("one\rtwo\rtwo\r", in: &editor) == ["one", "two", "two"])
    #expect(lines(up + up + "\r", in: &editor) == ["one"])
    #expect(lines("dra" + up + down + "ft\r", in: &editor) == ["draft"])
    #expect(lines(up + up + up + up + up + up + "\r", in: &editor) == ["one"])
    #expect(lines("\u{4}", in: &editor) == ["(end)"])
  }

  @Test("a line is drawn with its cursor, a long one in part")
  func drawing() {
    var editor = LineEditor(prompt: "> ")
    _ = lines("abc\u{1B}[D", in: &editor)
    #expect(editor.drawing(columns: 80) == "\r\u{1B}[K> abc\u{1B}[1D")
    _ = lines("\u{5}" + String(repeating: "x", count: 100), in: &editor)
    #expect(editor.drawing(columns: 20) == "\r\u{1B}[K> " + String(repeating: "x", count: 17))
  }
}
