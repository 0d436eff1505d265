import Synchronization
import TernCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The time that the end of a program waits for a pipe without a reader, in milliseconds.
let lastWordsMilliseconds: Int32 = 1_000

/// Writes a line to standard error; a reader that takes nothing for a second loses it.
func printError(_ line: String) {
  Terminal.shared.writing {
    _ = writeBytes(Array((line + "\n").utf8), to: 2, within: lastWordsMilliseconds)
  }
}

/// Writes bytes as long as the other end takes them.
///
/// - Parameter milliseconds: The longest time it may take nothing; negative waits for ever.
/// - Returns: Whether all were written; if not, `errno` says why, or is 0 when the time was over.
@discardableResult
func writeBytes(_ bytes: [UInt8], to descriptor: Int32, within milliseconds: Int32) -> Bool {
  var rest = bytes[...]
  while !rest.isEmpty {
    var asked = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    let ready = unsafe poll(&asked, 1, milliseconds)
    if ready < 0, errno == EINTR { continue }
    guard ready > 0 else {
      if ready == 0 { errno = 0 }
      return false
    }
    // So much a pipe takes without blocking once it is ready.
    let piece = rest.prefix(512)
    let count = unsafe piece.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    if count < 0, errno == EINTR || errno == EAGAIN { continue }
    guard count > 0 else { return false }
    rest = rest.dropFirst(count)
  }
  return true
}

/// Writes a line to standard output at once, also when that is a pipe.
///
/// A reader that has gone ends the program in silence; any other failure ends it with code 1.
func printLine(_ line: String) { printText(line + "\n") }

/// Writes text to standard output, as ``printLine(_:)`` does.
func printText(_ text: String) {
  Terminal.shared.writing {
    var rest = ArraySlice(text.utf8)
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN {
        var asked = pollfd(fd: 1, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&asked, 1, -1)
        continue
      }
      guard count > 0 else { endUnwritten(errno) }
      rest = rest.dropFirst(count)
    }
  }
}

/// Ends the program because standard output cannot be written.
///
/// - Parameter code: The system's reason.
func endUnwritten(_ code: Int32) -> Never {
  if code == EPIPE { endProgram(.done) }
  let failure = Failure(.failed, "cannot write standard output: \(systemText(code))")
  _ = writeBytes(Array((failure.line + "\n").utf8), to: 2, within: lastWordsMilliseconds)
  endProgram(failure.code)
}

/// The system's words for an error.
func systemText(_ code: Int32) -> String {
  unsafe strerror(code).map { unsafe String(cString: $0) } ?? "errno \(code)"
}

extension Failure {
  /// The line for standard error: words, or with `--json` an object.
  var line: String {
    guard Self.speaksJSON else { return "tern: \(message)" + (excerpt.map { "\n\($0)" } ?? "") }
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("error")
    writer.string(message)
    writer.key("code")
    writer.integer(code.rawValue)
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// True if the command line asks for JSON, which includes errors in the command line itself.
  private static var speaksJSON: Bool {
    CommandLine.arguments.prefix { $0 != "--" }.contains("--json")
  }
}

// MARK: - The end

/// Work that has to be done however the program ends, such as ending its children.
private let lastWork = Mutex<[@Sendable () -> Void]>([])

/// Has work done when the program ends by ``endProgram(_:)``.
func beforeTheEnd(_ work: @escaping @Sendable () -> Void) {
  lastWork.withLock { $0.append(work) }
}

/// Ends the program.
func endProgram(_ outcome: Outcome) -> Never { endProgram(code: outcome.rawValue) }

/// Ends the program with a code that may be another program's.
func endProgram(code: Int32) -> Never {
  let work = lastWork.withLock { work in
    defer { work = [] }
    return work
  }
  for work in work.reversed() { work() }
  exit(code)
}
