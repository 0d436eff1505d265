import Synchronization
import TernClient

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Writes notices to standard error, a line each; one that the tree and the documents both have to
/// tell is written once.
final class StandardErrorReport: Sendable {
  private let last = Mutex<ClientNotice?>(nil)
  private let write: @Sendable (String) -> Void

  init(write: @escaping @Sendable (String) -> Void = StandardErrorReport.writeLine) {
    self.write = write
  }

  func callAsFunction(_ notice: ClientNotice) {
    let isNews = last.withLock { last in
      defer { last = notice }
      return last != notice
    }
    if isNews { write("tern: \(notice)\(Self.advice(on: notice))") }
  }

  private static func advice(on notice: ClientNotice) -> String {
    guard case .notConnected = notice else { return "" }
    return "; trying again. What is written waits on this device"
  }

  private static func writeLine(_ line: String) {
    var bytes = Array((line + "\n").utf8)[...]
    while !bytes.isEmpty {
      let count = unsafe bytes.withUnsafeBytes { unsafe write2($0) }
      if count <= 0 { return }
      bytes = bytes.dropFirst(count)
    }
  }

  private static func write2(_ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Darwin)
      unsafe Darwin.write(2, bytes.baseAddress, bytes.count)
    #elseif canImport(Musl)
      unsafe Musl.write(2, bytes.baseAddress, bytes.count)
    #else
      unsafe Glibc.write(2, bytes.baseAddress, bytes.count)
    #endif
  }
}
