import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The terminal of the program: lines that are printed while another one is being typed go above
/// it.
final class Terminal: Sendable {
  static let shared = Terminal()

  /// True if standard input and output are a terminal.
  static var isInteractive: Bool { isatty(0) == 1 && isatty(1) == 1 }

  /// True if standard output is a terminal.
  static var isOutput: Bool { isatty(1) == 1 }

  private let editor = Mutex<LineEditor?>(nil)
  private let before = Mutex<termios?>(nil)

  private init() {}

  /// Runs `write`, which prints whole lines, with the line that is being typed out of the way.
  func writing(_ write: () -> Void) {
    editor.withLock { editor in
      if editor != nil { Self.put(LineEditor.clearing) }
      write()
      if let editor { Self.put(editor.drawing(columns: Self.columns)) }
    }
  }

  /// Reads lines that are typed, with editing and a history, until the end of the input.
  ///
  /// - Returns: The lines; `nil` when the terminal has no such mode.
  func lines(prompt: String) -> AsyncStream<String>? {
    var mode = termios()
    guard unsafe tcgetattr(0, &mode) == 0 else { return nil }
    before.withLock { $0 = mode }
    beforeTheEnd { self.restore() }
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
    guard unsafe tcsetattr(0, TCSADRAIN, &mode) == 0 else { return nil }
    editor.withLock { editor in
      let new = LineEditor(prompt: prompt)
      Self.put(new.drawing(columns: Self.columns))
      editor = new
    }
    let inbox = LineInbox()
    SystemThread.detach { self.read(into: inbox) }
    return AsyncStream { await inbox.next() }
  }

  /// Takes the line that is being typed away, and gives the terminal its mode back.
  func restore() {
    let mode = before.withLock { mode in
      defer { mode = nil }
      return mode
    }
    guard var mode else { return }
    _ = unsafe tcsetattr(0, TCSADRAIN, &mode)
    Self.put(LineEditor.clearing)
  }

  private func read(into inbox: LineInbox) {
    var decoder = KeyDecoder()
    let input = SystemFile.standardInput()
    while let byte = try? input.read(upTo: 1).first {
      guard let key = decoder.keys(byte) else { continue }
      switch press(key) {
      case .goesOn: break
      case .entered(let line): inbox.add(Array((line + "\n").utf8))
      case .ended: return inbox.add([])
      }
    }
    inbox.add([])
  }

  private func press(_ key: LineEditor.Key) -> LineEditor.Step {
    editor.withLock { editor in
      guard var edited = editor else { return .ended }
      if key == .enter { Self.put(edited.drawing(columns: Self.columns) + "\n") }
      if key == .clearScreen { Self.put("\u{1B}[H\u{1B}[2J") }
      let step = edited.press(key)
      if step == .ended {
        editor = nil
        Self.put("\n")
      } else {
        editor = edited
        Self.put(edited.drawing(columns: Self.columns))
      }
      return step
    }
  }

  private static var columns: Int {
    var size = winsize()
    guard unsafe ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  private static func put(_ text: String) { writeBytes(Array(text.utf8), to: 1, within: -1) }
}
