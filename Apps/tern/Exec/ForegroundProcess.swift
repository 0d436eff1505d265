import Synchronization
import TernClient

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Another program on the streams of this one.
enum ForegroundProcess {
  /// Runs a program to its end.
  ///
  /// SIGTERM is passed on. SIGINT is not: a terminal sends it to both, and the program says what it
  /// means; this one goes on until the program has ended.
  ///
  /// - Parameters:
  ///   - words: The program, found on PATH, and its arguments; one at least.
  ///   - environment: All of its variables.
  /// - Returns: Its exit code; 128 and the signal if one ended it.
  /// - Throws: ``Failure`` when there is no such program.
  static func run(_ words: [String], environment: [String: String]) async throws -> Int32 {
    let termination = Termination()
    // Before the start: the program may be running, and be seen, before this goes on.
    SignalPipe.shared.listen(to: SIGTERM) { termination.request() }
    SignalPipe.shared.listen(to: SIGINT) {}
    let processID = try spawn(words, environment.map { "\($0.key)=\($0.value)" }.sorted())
    termination.start(processID)
    let end = Promise<Int32>()
    SystemThread.detach {
      let code = ChildProcess.waitForEnd(of: processID)
      termination.end()
      end.resolve(code)
    }
    // Nothing cancels the task of a command.
    return await end.value(ifCancelled: 1)
  }

  private static func spawn(_ words: [String], _ variables: [String]) throws -> pid_t {
    #if canImport(Darwin)
      var attributes: posix_spawnattr_t?
    #else
      var attributes = unsafe posix_spawnattr_t()
    #endif
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // This program ignores them; what it runs expects their usual meaning.
    var usual = sigset_t()
    unsafe sigemptyset(&usual)
    for number in [SIGPIPE, SIGXFSZ] { unsafe sigaddset(&usual, number) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &usual)
    // Threads that run tasks block signals, and a program inherits that.
    var blocked = sigset_t()
    unsafe sigemptyset(&blocked)
    unsafe posix_spawnattr_setsigmask(&attributes, &blocked)
    let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    let arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    let environment = unsafe variables.map { unsafe strdup($0) } + [nil]
    defer {
      for index in words.indices { unsafe free(arguments[index]) }
      for index in variables.indices { unsafe free(environment[index]) }
    }
    var processID: pid_t = 0
    let code = unsafe posix_spawnp(
      &processID, words[0], nil, &attributes, arguments, environment)
    if code == ENOENT { throw Failure(.usage, "no program '\(words[0])'") }
    guard code == 0 else {
      throw Failure(.failed, "cannot start \(words[0]): errno \(code)")
    }
    return processID
  }
}

/// A request to end a program that may not have started yet, or may have ended.
private final class Termination: Sendable {
  private enum Target {
    case notStarted(isRequested: Bool)
    case running(pid_t)
    case ended
  }

  private let target = Mutex(Target.notStarted(isRequested: false))

  func request() {
    target.withLock {
      switch $0 {
      case .notStarted: $0 = .notStarted(isRequested: true)
      case .running(let processID): kill(processID, SIGTERM)
      case .ended: break
      }
    }
  }

  func start(_ processID: pid_t) {
    target.withLock {
      if case .notStarted(isRequested: true) = $0 { kill(processID, SIGTERM) }
      $0 = .running(processID)
    }
  }

  /// The system may give its number to another program from now on.
  func end() { target.withLock { $0 = .ended } }
}
