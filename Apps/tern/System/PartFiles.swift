import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The unfinished files of this process, named `NAME.PID.part`.
///
/// SIGINT and SIGTERM remove them before they end the program. The parts of a process that had no
/// time for that are removed by the next one that writes a file of the same name.
enum PartFiles {
  private struct State {
    var paths: Swift.Set<String> = []
    var hearsSignals = false
  }

  private static let state = Mutex(State())
  private static let ending = ".part"

  /// Creates the part of a file.
  ///
  /// - Parameters:
  ///   - mode: The permissions of the new file.
  ///   - family: The ending of names whose abandoned parts are removed beside those of `path`.
  /// - Returns: The part and its descriptor; `nil` with the reason in `errno`.
  static func create(
    for path: String, mode: mode_t, family: String? = nil
  ) -> (path: String, descriptor: Int32)? {
    removeAbandoned(beside: path, family: family)
    let part = "\(path).\(getpid())\(ending)"
    let isFirst = state.withLock { state in
      state.paths.insert(part)
      return !exchange(&state.hearsSignals, with: true)
    }
    if isFirst { hearSignals() }
    let descriptor = unsafe open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard descriptor >= 0 else {
      let reason = errno
      forget(part)
      errno = reason
      return nil
    }
    // Tells processes that cannot see this one, such as those of another container, that it lives.
    _ = flock(descriptor, LOCK_EX | LOCK_NB)
    return (part, descriptor)
  }

  /// Leaves a part to its caller: it has another name now, or is gone.
  static func forget(_ part: String) {
    _ = state.withLock { $0.paths.remove(part) }
  }

  /// Removes a part.
  static func remove(_ part: String) {
    try? FileManager.default.removeItem(atPath: part)
    forget(part)
  }

  private static func hearSignals() {
    for number in [SIGINT, SIGTERM] where !isIgnored(number) {
      SignalPipe.shared.listen(to: number) {
        state.withLock { state in
          for part in state.paths { try? FileManager.default.removeItem(atPath: part) }
          // The program ends with the lock held, so that no part is created any more.
          _ = signal(number, SIG_DFL)
          _ = kill(getpid(), number)
          // The first process of a container is not ended by its own signal.
          _exit(128 + number)
        }
      }
    }
  }

  /// Returns true for a signal that the program was started to ignore, such as SIGINT in the
  /// background of a script.
  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard unsafe sigaction(number, nil, &action) == 0 else { return false }
    #if canImport(Darwin)
      let handler = unsafe action.__sigaction_u.__sa_handler
    #else
      let handler = unsafe action.__sigaction_handler.sa_handler
    #endif
    // Functions cannot be compared; the addresses of handlers can.
    return unsafe unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  private static func removeAbandoned(beside path: String, family: String?) {
    let place = URL(filePath: path)
    let (folder, name) = (place.deletingLastPathComponent().path, place.lastPathComponent)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for found in names where found.hasSuffix(ending) {
      let whole = found.dropLast(ending.count)
      guard let dot = whole.lastIndex(of: "."),
        let process = pid_t(whole[whole.index(after: dot)...])
      else { continue }
      let base = whole[..<dot]
      guard base == name || family.map({ base.hasSuffix($0) }) == true else { continue }
      let part = folder + "/" + found
      if isAbandoned(part, by: process) { try? FileManager.default.removeItem(atPath: part) }
    }
  }

  /// Returns true when the process that wrote a part is gone, and no other one holds the file.
  private static func isAbandoned(_ part: String, by process: pid_t) -> Bool {
    if process == getpid() {
      // A process of before had the same number.
      if state.withLock({ $0.paths.contains(part) }) { return false }
    } else if kill(process, 0) == 0 || errno != ESRCH {
      return false
    }
    let descriptor = unsafe open(part, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { _ = close(descriptor) }
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0
  }
}
