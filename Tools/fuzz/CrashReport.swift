#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reports the input that was being played when a trap kills the program.
enum CrashReport {
  /// The number of the input that is being played. It is sound because a single thread plays, and
  /// only a handler on that thread reads it.
  nonisolated(unsafe) private static let current = UnsafeMutablePointer<UInt64>.allocate(
    capacity: 1)
  /// The text before the number. It is sound because it is written before handlers are set.
  nonisolated(unsafe) private static var words: [UInt8] = []

  /// Sets handlers for the signals that kill.
  static func prepare(_ target: String, seed: UInt64) {
    unsafe current.initialize(to: 0)
    unsafe words = Array(
      "FAILED \(target): it was killed\n  again: tern-fuzz \(target) --seed \(seed) --number ".utf8)
    for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE] {
      _ = signal(number) { number in
        // Nothing here allocates: the heap may be what is broken.
        unsafe CrashReport.words.withUnsafeBytes { unsafe _ = write(1, $0.baseAddress, $0.count) }
        CrashReport.writeNumber()
        signal(number, SIG_DFL)
        raise(number)
      }
    }
  }

  /// Notes what is played now.
  static func note(_ number: UInt64) { unsafe current.pointee = number }

  private static func writeNumber() {
    var rest = unsafe current.pointee
    var place: UInt64 = 1
    while rest / place >= 10 { place *= 10 }
    while place > 0 {
      var digit = UInt8(ascii: "0") + UInt8(rest / place)
      unsafe _ = write(1, &digit, 1)
      rest %= place
      place /= 10
    }
    var end = UInt8(ascii: "\n")
    unsafe _ = write(1, &end, 1)
  }
}
