import TernTestKit
import Testing

@testable import tern

/// A line that is edited as two texts, left and right of the cursor.
private struct NaiveLine {
  private(set) var left = ""
  private(set) var right = ""
  private var history: [String] = []
  private var shown: Int?
  private var draft = ""

  mutating func press(_ key: LineEditor.Key) -> LineEditor.Step {
    switch key {
    case .character(let character): left.append(character)
    case .backspace: _ = left.popLast()
    case .delete: right = String(right.dropFirst())
    case .left: if let last = left.popLast() { right = String(last) + right }
    case .right: if let first = right.first { move(first) }
    case .home: (left, right) = ("", left + right)
    case .end: (left, right) = (left + right, "")
    case .cutToEnd: right = ""
    case .cutToStart: left = ""
    case .cutWord:
      while left.last == " " { left.removeLast() }
      while let last = left.last, last != " " { left.removeLast() }
    case .clearScreen: break
    case .endOfInput:
      if left.isEmpty, right.isEmpty { return .ended }
      right = String(right.dropFirst())
    case .enter: return .entered(enter())
    case .up: show((shown ?? history.count) - 1)
    case .down: show((shown ?? history.count) + 1)
    }
    return .goesOn
  }

  private mutating func move(_ character: Character) {
    left.append(character)
    right.removeFirst()
  }

  private mutating func enter() -> String {
    let line = left + right
    if line.contains(where: { $0 != " " }), history.last != line { history.append(line) }
    (left, right, shown, draft) = ("", "", nil, "")
    return line
  }

  private mutating func show(_ index: Int) {
    guard index >= 0, index <= history.count else { return }
    if shown == nil { draft = left + right }
    shown = index == history.count ? nil : index
    (left, right) = (index == history.count ? draft : history[index], "")
  }
}

@Suite("a line on a terminal against two texts") struct LineModelTests {
  private static let keys: [LineEditor.Key] = [
    .character("a"), .character("é"), .character("😀"), .character(" "), .character("b"), .enter,
    .backspace, .delete, .left, .left, .right, .up, .down, .home, .end, .cutToEnd, .cutToStart,
    .cutWord, .clearScreen, .endOfInput,
  ]

  @Test("keys in any order do what they do to two texts", arguments: UInt64(1)...40)
  func agrees(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var editor = LineEditor(prompt: "> ")
    var naive = NaiveLine()
    for number in 0..<300 {
      let key = Self.keys[random.roll(Self.keys.count)]
      let expected = naive.press(key)
      #expect(editor.press(key) == expected, "key \(number): \(key)")
      let back = naive.right.isEmpty ? "" : "\u{1B}[\(naive.right.count)D"
      #expect(
        editor.drawing(columns: 1_000) == "\r\u{1B}[K> \(naive.left)\(naive.right)\(back)",
        "key \(number): \(key)")
    }
  }

  @Test("a drawing fits the terminal and shows the cursor", arguments: [1, 10, 11, 12, 40])
  func widths(columns: Int) {
    var random = SeededGenerator(seed: 3)
    var editor = LineEditor(prompt: "> ")
    for _ in 0..<500 {
      _ = editor.press([.character("x"), .character("y"), .left, .home, .end][random.roll(5)])
      let drawn = editor.drawing(columns: columns).dropFirst(LineEditor.clearing.count)
      let shown = drawn.prefix { $0 != "\u{1B}" }
      #expect(shown.count <= max(columns - 1, 10))
      let back = Int(drawn.dropFirst(shown.count).dropFirst(2).dropLast()) ?? 0
      #expect(back <= shown.count - 2, "the cursor stays behind the prompt")
    }
  }

  @Test("the history keeps its latest lines", arguments: [-1, 0, 1])
  func historyLimit(over: Int) {
    var editor = LineEditor(prompt: "")
    let count = LineEditor.historyLines + over
    for number in 0..<count {
      for character in "\(number)" { _ = editor.press(.character(character)) }
      _ = editor.press(.enter)
    }
    for _ in 0..<(count + 5) { _ = editor.press(.up) }
    #expect(editor.press(.enter) == .entered("\(max(0, over))"))
  }
}

@Suite("bytes of a terminal") struct KeyDecoderTests {
  private func keys(_ bytes: [UInt8]) -> [LineEditor.Key] {
    var decoder = KeyDecoder()
    return bytes.compactMap { decoder.keys($0) }
  }

  @Test(
    "sequences are one key",
    arguments: [
      ("\u{1B}[A", .up), ("\u{1B}OA", .up), ("\u{1B}[B", .down), ("\u{1B}[C", .right),
      ("\u{1B}[D", .left), ("\u{1B}[H", .home), ("\u{1B}[1~", .home), ("\u{1B}[7~", .home),
      ("\u{1B}[F", .end), ("\u{1B}[4~", .end), ("\u{1B}[8~", .end), ("\u{1B}[3~", .delete),
      ("\u{1B}[1;5C", .right), ("\n", .enter), ("\r", .enter), ("\u{8}", .backspace),
      ("\t", .character(" ")), ("\u{C}", .clearScreen), ("\u{10}", .up), ("\u{E}", .down),
    ] as [(String, LineEditor.Key)])
  func sequences(text: String, key: LineEditor.Key) {
    #expect(keys(Array(text.utf8)) == [key])
    #expect(keys(Array((text + "x" + text).utf8)) == [key, .character("x"), key])
  }

  @Test(
    "what is no key is left out, and the keys behind it count",
    arguments: [
      [0x1B, 0x78], [0x1B, 0x5B, 0x32, 0x7E], [0x00], [0x1F], [0x1B, 0x5B, 0x35, 0x7E],
      [0x80], [0xE9], [0xFF], [0xC3], [0xF0, 0x9F], [0xF0, 0x9F, 0x98], [0x80, 0x80, 0x80, 0x80],
      [0xC0, 0x80, 0x80, 0x80],
    ] as [[UInt8]])
  func noKeys(bytes: [UInt8]) {
    #expect(keys(bytes) == [])
    #expect(keys(bytes + [0x61, 0x0D]) == [.character("a"), .enter])
    #expect(keys(bytes + Array("é".utf8) + [0x0D]).last == .enter)
  }

  @Test("a sequence that never ends is given up")
  func endless() {
    let bytes: [UInt8] = [0x1B, 0x5B] + [UInt8](repeating: 0x31, count: 16)
    #expect(keys(bytes + Array("\r".utf8)).last == .enter)
  }

  @Test("any bytes leave the decoder able to read on", arguments: UInt64(1)...30)
  func anyBytes(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var decoder = KeyDecoder()
    for _ in 0..<2_000 { _ = decoder.keys(UInt8(random.roll(256))) }
    // At most the rest of one sequence is taken along.
    let entered = (0..<20).contains { _ in decoder.keys(0x0D) == .enter }
    #expect(entered)
  }
}
