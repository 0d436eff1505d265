import Foundation
import Synchronization
import Testing

@testable import tern

@Suite("The log of a server") struct LogWriterTests {
  /// A reader that takes nothing until it is told to.
  private final class Reader: Sendable {
    let text = Mutex("")
    let gate = DispatchSemaphore(value: 0)
    let asked = DispatchSemaphore(value: 0)

    func read(_ bytes: [UInt8]) {
      asked.signal()
      gate.wait()
      gate.signal()
      text.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
    }
  }

  @Test("a reader that takes nothing blocks no writer, and what it missed is counted")
  func dropped() {
    let reader = Reader()
    let log = LogWriter { reader.read($0) }
    log.write("first")
    reader.asked.wait()
    let start = ContinuousClock().now
    for number in 0..<10_000 { log.write("line \(number)") }
    #expect(start.duration(to: ContinuousClock().now) < .seconds(60))
    reader.gate.signal()
    log.flush(within: .seconds(300))
    log.write("last")
    log.flush(within: .seconds(300))
    let lines = reader.text.withLock { $0 }.split(separator: "\n")
    #expect(lines.first == "first" && lines.last == "last")
    #expect(lines.count == LogWriter.linesKept + 3)
    let dropped = 10_000 - LogWriter.linesKept
    #expect(
      lines.contains("tern: \(dropped) lines of this log were dropped: nobody read them in time"))
  }

  @Test("long lines are bounded by their bytes")
  func bytes() {
    let reader = Reader()
    let log = LogWriter { reader.read($0) }
    log.write("first")
    reader.asked.wait()
    for _ in 0..<100 { log.write(String(repeating: "x", count: 100_000)) }
    reader.gate.signal()
    log.flush(within: .seconds(300))
    #expect(reader.text.withLock { $0.utf8.count } < LogWriter.bytesKept + 200_000)
  }

  @Test("characters that end lines or act on a terminal are written out")
  func controls() {
    let text = Mutex("")
    let log = LogWriter { bytes in text.withLock { $0 += String(decoding: bytes, as: UTF8.self) } }
    log.write("a\u{1B}[2Jb\u{85}c\u{2028}d\re\n  f\u{202E}é")
    log.flush(within: .seconds(300))
    #expect(text.withLock { $0 } == "a\\u{1b}[2Jb\\u{85}c\\u{2028}d\\u{d}e\n  f\\u{202e}é\n")
  }
}
