import Foundation
import Synchronization

private let turn = Mutex(())

/// Prints a line at once: who reads it may rely on what it says, even if this process is killed
/// the moment after.
func printLine(_ line: String) {
  var rest = ArraySlice((line + "\n").utf8)
  turn.withLock { _ in
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
      // The reader has closed its end: no output can arrive.
      guard count > 0 else { exit(0) }
      rest = rest.dropFirst(count)
    }
  }
}
