import Dispatch
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Writes the lines of a server's log on a thread of its own, so that no caller ever waits.
///
/// A pipe without a reader must not stop a server: what does not fit into the queue is dropped
/// and counted, and the count is told as soon as lines leave again.
final class LogWriter: Sendable {
  /// The log of this process, on standard error.
  static let standardError = LogWriter { writeBytes($0, to: 2, within: -1) }

  /// The most lines that wait.
  static let linesKept = 1_000
  /// The most bytes of them; one line more is taken whatever its length.
  static let bytesKept = 256 * 1024

  fileprivate struct Waiting {
    var lines: [String] = []
    var bytes = 0
    var dropped = 0
    var isDraining = false
    var usesJSON = false
  }

  /// True when the lines are JSON objects, as the notice of dropped ones is to be, too.
  var usesJSON: Bool {
    get { waiting.withLock { $0.usesJSON } }
    set { waiting.withLock { $0.usesJSON = newValue } }
  }

  private let waiting = Mutex(Waiting())
  private let queue = DispatchQueue(label: "tern.log")
  private let draining = DispatchGroup()
  private let writeOut: @Sendable ([UInt8]) -> Void

  /// - Parameter writeOut: Writes bytes; called on a thread of its own, and may block.
  init(writeOut: @escaping @Sendable ([UInt8]) -> Void) { self.writeOut = writeOut }

  /// Adds one or several lines; never blocks.
  ///
  /// Characters that act on a terminal or end a line elsewhere are written out.
  func write(_ text: String) {
    let line = Self.printable(text) + "\n"
    let isFirst = waiting.withLock { waiting in
      guard waiting.lines.count < Self.linesKept, waiting.bytes < Self.bytesKept else {
        waiting.dropped += 1
        return false
      }
      if waiting.dropped > 0 { waiting.addNotice() }
      waiting.add(line)
      guard !waiting.isDraining else { return false }
      waiting.isDraining = true
      draining.enter()
      return true
    }
    if isFirst { queue.async { self.drain() } }
  }

  /// Waits until everything is written, or the time is over.
  func flush(within time: DispatchTimeInterval) { _ = draining.wait(timeout: .now() + time) }

  private func drain() {
    while let text = next() { writeOut(Array(text.utf8)) }
  }

  /// All that waits; `nil` ends the draining.
  private func next() -> String? {
    waiting.withLock { waiting in
      if waiting.lines.isEmpty, waiting.dropped > 0 {
        waiting.addNotice()
      }
      guard !waiting.lines.isEmpty else {
        waiting.isDraining = false
        draining.leave()
        return nil
      }
      waiting.bytes = 0
      return exchange(&waiting.lines, with: []).joined()
    }
  }

  private static func printable(_ text: String) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case _ where scalar == "\n" || scalar == "\t": shown.append(scalar)
      case .control, .format, .lineSeparator, .paragraphSeparator:
        shown.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
      default: shown.append(scalar)
      }
    }
    return String(shown)
  }
}

extension LogWriter.Waiting {
  /// Tells how many lines were dropped.
  fileprivate mutating func addNotice() {
    let count = exchange(&dropped, with: 0)
    let text = "\(count) lines of this log were dropped: nobody read them in time"
    add(usesJSON ? #"{"level":"warning","message":"\#(text)"}"# + "\n" : "tern: \(text)\n")
  }

  fileprivate mutating func add(_ line: String) {
    lines.append(line)
    bytes += line.utf8.count
  }
}
