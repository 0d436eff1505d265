import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Hears signals of the system instead of letting them end the program.
///
/// The handler writes the number of a signal into a pipe, and a thread of its own reads it. A
/// dispatch source would be shorter, but on Linux it misses a signal now and then, one of some
/// thousand: the one that a thread other than its own was given before it had blocked it.
final class SignalPipe: Sendable {
  /// There is one for all: a signal has one handler in a process.
  static let shared = SignalPipe()

  private let listeners = Mutex<[Int32: [@Sendable () -> Void]]>([:])

  private init() {
    var ends: [Int32] = [-1, -1]
    // Without a pipe signals keep the meaning that they have for every program.
    guard unsafe pipe(&ends) == 0 else { return }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    // A full pipe tells enough already; a handler must not wait.
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    writing.store(ends[1], ordering: .releasing)
    let reading = ends[0]
    SystemThread.detach { [weak self] in
      while let number = Self.next(from: reading) { self?.tell(number) }
    }
  }

  /// Hears one more signal from now on, as long as the program runs.
  ///
  /// - Parameter heard: Called on a thread of its own, once for every time the signal is seen; the
  ///   system tells signals that come close together once.
  func listen(to number: Int32, _ heard: @escaping @Sendable () -> Void) {
    guard writing.load(ordering: .acquiring) >= 0 else { return }
    listeners.withLock { $0[number, default: []].append(heard) }
    _ = signal(number, note)
  }

  private func tell(_ number: Int32) {
    for heard in listeners.withLock({ $0[number] ?? [] }) { heard() }
  }

  private static func next(from reading: Int32) -> Int32? {
    var byte: UInt8 = 0
    while true {
      let count = unsafe read(reading, &byte, 1)
      if count == 1 { return Int32(byte) }
      guard count < 0, errno == EINTR else { return nil }
    }
  }
}

/// The descriptor that the handler writes to. It may touch nothing that could wait or allocate.
private let writing = Atomic<Int32>(-1)

private func note(_ number: Int32) {
  // The interrupted call finds its own error as it was.
  let before = errno
  var byte = UInt8(truncatingIfNeeded: number)
  _ = unsafe write(writing.load(ordering: .acquiring), &byte, 1)
  errno = before
}
