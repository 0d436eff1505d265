#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// One line on standard error that is written over as work proceeds; silent without a terminal.
struct ProgressLine {
  private let isVisible = isatty(2) == 1
  private var lastPercent = -1
  private var lastCount = 0

  /// Shows how much is done.
  ///
  /// - Parameters:
  ///   - done: How many of `total` there are so far.
  ///   - total: The expected number; `nil` when it is unknown.
  mutating func show(_ verb: String, _ done: Int, of total: Int?, unit: String) {
    guard isVisible else { return }
    if let total, total > 0 {
      let percent = min(100, done * 100 / total)
      guard percent != lastPercent else { return }
      lastPercent = percent
      write("\r\(verb) \(percent) %")
    } else {
      guard done - lastCount >= 100 else { return }
      lastCount = done
      write("\r\(verb) \(done) \(unit)")
    }
  }

  /// Clears the line.
  func end() {
    if isVisible { write("\r\u{1B}[K") }
  }

  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe Self.put($0) }
  }

  private static func put(_ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Glibc)
      unsafe Glibc.write(2, bytes.baseAddress, bytes.count)
    #elseif canImport(Musl)
      unsafe Musl.write(2, bytes.baseAddress, bytes.count)
    #else
      unsafe Darwin.write(2, bytes.baseAddress, bytes.count)
    #endif
  }
}
