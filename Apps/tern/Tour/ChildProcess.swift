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

/// Another program of ours, driven through pipes and ended by its process id.
final class ChildProcess: Sendable {
  /// The lines on its standard output.
  let output = LineInbox()
  /// The lines on its standard error.
  let errors = LineInbox()
  let processID: pid_t

  /// One start at a time: a pipe is kept from children only after it is open, and a child started
  /// in between would inherit it.
  private static let starting = Mutex(())

  private let input: Pipe
  private let exit = ExitBox()

  /// One direction of bytes between two processes. No child inherits it by accident, which would
  /// keep it open when its owner is gone.
  private struct Pipe {
    let reading: Int32
    let writing: Int32

    init() throws {
      var ends: [Int32] = [-1, -1]
      guard unsafe pipe(&ends) == 0 else { throw Failure(.failed, "no pipe: errno \(errno)") }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      (reading, writing) = (ends[0], ends[1])
    }
  }

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - environment: All of its variables; `nil` passes those of this process on, without ours.
  ///   - folder: Where it works; `nil` is here.
  init(
    _ executable: String, _ arguments: [String], environment: [String: String]? = nil,
    folder: String? = nil
  ) throws {
    // Writing to a child that has gone is an error to report, not the end of this program.
    _ = signal(SIGPIPE, SIG_IGN)
    // A server writes its log as text, as it does on a terminal.
    let variables =
      environment
      ?? ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("TERN_") }
      .merging(["TERN_LOG_FORMAT": "text"]) { $1 }
    let words = [executable] + arguments
    let (input, output, errors, processID) = try Self.starting.withLock { _ in
      let (input, output, errors) = (try Pipe(), try Pipe(), try Pipe())
      let processID = try Self.spawn(
        folder.map { ["/bin/sh", "-c", #"cd "$0" && exec "$@""#, $0] + words } ?? words,
        variables.map { "\($0.key)=\($0.value)" }.sorted(),
        descriptors: [input.reading, output.writing, errors.writing])
      return (input, output, errors, processID)
    }
    self.processID = processID
    for end in [input.reading, output.writing, errors.writing] { close(end) }
    self.input = input
    self.output.read(from: output.reading)
    self.errors.read(from: errors.reading)
    let exit = exit
    SystemThread.detach { exit.resolve(Self.waitForEnd(of: processID)) }
  }

  /// Writes a line to its standard input.
  func send(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = unsafe write(input.writing, bytes, bytes.count)
  }

  /// Ends its standard input; nothing can be sent any more.
  func closeInput() { close(input.writing) }

  /// Ends it without a warning, as `kill -9` does.
  func killNow() { kill(processID, SIGKILL) }

  /// Blocks until it has ended.
  func waitForEnd() { while !exit.isResolved { usleep(1_000) } }

  /// Asks it to stop.
  func stop() { kill(processID, SIGTERM) }

  /// Waits for its end.
  ///
  /// - Returns: Its exit code, 128 and the signal if one ended it; `nil` after `deadline`.
  func exitCode(within deadline: Duration) async -> Int32? {
    let alarm = Task {
      try await ContinuousClock().sleep(for: deadline)
      exit.wake()
    }
    defer { alarm.cancel() }
    return await exit.value()
  }
}

// MARK: - The system

extension ChildProcess {
  private static func spawn(
    _ words: [String], _ variables: [String], descriptors: [Int32]
  ) throws -> pid_t {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = unsafe posix_spawn_file_actions_t()
    #endif
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    for (number, descriptor) in descriptors.enumerated() {
      unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
    }
    let arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    let environment = unsafe variables.map { unsafe strdup($0) } + [nil]
    defer {
      for index in words.indices { unsafe free(arguments[index]) }
      for index in variables.indices { unsafe free(environment[index]) }
    }
    var processID: pid_t = 0
    let code = unsafe posix_spawn(
      &processID, words[0], &actions, nil, arguments, environment)
    guard code == 0 else {
      throw Failure(.failed, "cannot start a process: errno \(code)")
    }
    return processID
  }

  /// Blocks until a child has ended, and returns its exit code; 128 and the signal if one ended it.
  static func waitForEnd(of processID: pid_t) -> Int32 {
    var status: Int32 = 0
    while unsafe waitpid(processID, &status, 0) < 0, errno == EINTR {}
    // The low seven bits name the signal that ended it, if any; the next eight are the code.
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
  }
}
