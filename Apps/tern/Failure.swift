import TernAssembly
import TernClient
import TernCore
import TernQuery

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What the program's exit code says.
enum Outcome: Int32 {
  case done = 0
  case failed = 1
  case usage = 2
  case unreachable = 3
  case refused = 4
  case notFound = 5
  /// The server has ended after its store failed; started again, it reads what is durable. The
  /// number is that of EX_IOERR in sysexits.h.
  case storeFailed = 74
}

/// Why a command ended early: one line for people, one code for scripts.
struct Failure: Error, Equatable {
  let code: Outcome
  let message: String

  init(_ code: Outcome, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The same, and a way out if there is one.
  func advising(_ advice: String?) -> Failure {
    Failure(code, advice.map { "\(message), \($0)" } ?? message)
  }
}

/// The time that the end of a program waits for a pipe without a reader, in milliseconds.
let lastWordsMilliseconds: Int32 = 1_000

/// Writes a line to standard error; a reader that takes nothing for a second loses it.
func printError(_ line: String) {
  writeBytes(Array((line + "\n").utf8), to: 2, within: lastWordsMilliseconds)
}

/// Writes bytes as long as the other end takes them.
///
/// - Parameter milliseconds: The longest time it may take nothing; negative waits for ever.
/// - Returns: Whether all were written.
@discardableResult
func writeBytes(_ bytes: [UInt8], to descriptor: Int32, within milliseconds: Int32) -> Bool {
  var rest = bytes[...]
  while !rest.isEmpty {
    var asked = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    let ready = unsafe poll(&asked, 1, milliseconds)
    if ready < 0, errno == EINTR { continue }
    guard ready > 0 else { return false }
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
func printLine(_ line: String) {
  var rest = ArraySlice((line + "\n").utf8)
  while !rest.isEmpty {
    let count = unsafe rest.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
    // The reader has gone: nobody is left to tell.
    guard count > 0 else { exit(Outcome.done.rawValue) }
    rest = rest.dropFirst(count)
  }
}
