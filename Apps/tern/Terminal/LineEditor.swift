/// A line that is being typed: its text, the cursor in it, and the lines before it.
///
/// It knows no terminal: keys go in, and ``drawing(columns:)`` is what a terminal shows.
struct LineEditor {
  /// A key of a terminal.
  enum Key: Equatable {
    case character(Character)
    case enter, backspace, delete, left, right, up, down, home, end
    /// Control and K, U, W, L and D.
    case cutToEnd, cutToStart, cutWord, clearScreen, endOfInput
  }

  /// The outcome of a key.
  enum Step: Equatable {
    case goesOn
    case entered(String)
    case ended
  }

  /// The most lines that are remembered.
  static let historyLines = 1_000

  let prompt: String
  private var text: [Character] = []
  private var cursor = 0
  private var history: [String] = []
  /// The place in the history that is shown; its count is the line that is being typed.
  private var shown = 0
  /// The line that is being typed, while one of the history is shown.
  private var draft: [Character] = []

  init(prompt: String) { self.prompt = prompt }

  mutating func press(_ key: Key) -> Step {
    switch key {
    case .character(let character):
      text.insert(character, at: cursor)
      cursor += 1
    case .enter: return .entered(enter())
    case .endOfInput:
      if text.isEmpty { return .ended }
      delete()
    case .delete: delete()
    case .backspace:
      guard cursor > 0 else { break }
      cursor -= 1
      text.remove(at: cursor)
    case .left: cursor = max(0, cursor - 1)
    case .right: cursor = min(text.count, cursor + 1)
    case .home: cursor = 0
    case .end: cursor = text.count
    case .up: show(shown - 1)
    case .down: show(shown + 1)
    case .cutToEnd: text.removeSubrange(cursor...)
    case .cutToStart:
      text.removeSubrange(..<cursor)
      cursor = 0
    case .cutWord: cutWord()
    case .clearScreen: break
    }
    return .goesOn
  }

  private mutating func enter() -> String {
    let line = String(text)
    if !line.allSatisfy({ $0 == " " }), line != history.last {
      history.append(line)
      if history.count > Self.historyLines { history.removeFirst() }
    }
    (text, draft, cursor, shown) = ([], [], 0, history.count)
    return line
  }

  private mutating func delete() {
    if cursor < text.count { text.remove(at: cursor) }
  }

  private mutating func cutWord() {
    var start = cursor
    while start > 0, text[start - 1] == " " { start -= 1 }
    while start > 0, text[start - 1] != " " { start -= 1 }
    text.removeSubrange(start..<cursor)
    cursor = start
  }

  private mutating func show(_ index: Int) {
    guard (0...history.count).contains(index) else { return }
    if shown == history.count { draft = text }
    shown = index
    text = index == history.count ? draft : Array(history[index])
    cursor = text.count
  }

  /// The control sequence that draws the line over itself; of a long one the part at the cursor.
  func drawing(columns: Int) -> String {
    let room = max(8, columns - prompt.count - 1)
    let start = max(0, cursor - room)
    let part = text[start..<min(text.count, start + room)]
    let behind = part.endIndex - cursor
    return Self.clearing + prompt + String(part) + (behind > 0 ? "\u{1B}[\(behind)D" : "")
  }

  /// The control sequence that clears the line.
  static let clearing = "\r\u{1B}[K"
}

/// Turns the bytes of a terminal into keys.
struct KeyDecoder {
  private var pending: [UInt8] = []

  /// The keys that `byte` completes.
  mutating func keys(_ byte: UInt8) -> LineEditor.Key? {
    // Bytes that are no character take no key behind them along.
    if let first = pending.first, first >= 0x80, byte & 0xC0 != 0x80 { pending = [] }
    pending.append(byte)
    if pending[0] == 0x1B { return escape() }
    if pending[0] >= 0x80 { return character() }
    pending = []
    switch byte {
    case 0x01: return .home
    case 0x02: return .left
    case 0x04: return .endOfInput
    case 0x05: return .end
    case 0x06: return .right
    case 0x08, 0x7F: return .backspace
    case 0x0A, 0x0D: return .enter
    case 0x0B: return .cutToEnd
    case 0x0C: return .clearScreen
    case 0x0E: return .down
    case 0x10: return .up
    case 0x15: return .cutToStart
    case 0x17: return .cutWord
    case 0x09: return .character(" ")
    case ..<0x20: return nil
    default: return .character(Character(UnicodeScalar(byte)))
    }
  }

  /// A sequence of an escape, a bracket or O, perhaps digits, and a letter or a tilde.
  private mutating func escape() -> LineEditor.Key? {
    guard pending.count > 2 else {
      if pending.count == 2, pending[1] != UInt8(ascii: "["), pending[1] != UInt8(ascii: "O") {
        pending = []
      }
      return nil
    }
    let last = pending[pending.count - 1]
    guard (0x40...0x7E).contains(last) else {
      if pending.count > 16 { pending = [] }
      return nil
    }
    let digits = String(decoding: pending[2..<(pending.count - 1)], as: UTF8.self)
    pending = []
    switch (last, digits) {
    case (UInt8(ascii: "A"), _): return .up
    case (UInt8(ascii: "B"), _): return .down
    case (UInt8(ascii: "C"), _): return .right
    case (UInt8(ascii: "D"), _): return .left
    case (UInt8(ascii: "H"), _), (UInt8(ascii: "~"), "1"), (UInt8(ascii: "~"), "7"): return .home
    case (UInt8(ascii: "F"), _), (UInt8(ascii: "~"), "4"), (UInt8(ascii: "~"), "8"): return .end
    case (UInt8(ascii: "~"), "3"): return .delete
    default: return nil
    }
  }

  private mutating func character() -> LineEditor.Key? {
    if let text = String(validating: pending, as: UTF8.self), let character = text.first {
      pending = []
      return .character(character)
    }
    if pending.count >= 4 { pending = [] }
    return nil
  }
}
