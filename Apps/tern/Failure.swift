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

/// Writes a line to standard error.
func printError(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = unsafe bytes.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
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
