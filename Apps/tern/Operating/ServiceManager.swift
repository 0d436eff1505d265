import Dispatch
import TernServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Tells a service manager such as systemd about the state of the program: datagrams to the socket
/// that `NOTIFY_SOCKET` names. Without that variable nothing is told.
///
/// Source: sd_notify(3).
struct ServiceManager: Sendable {
  private let path: String?
  private let watchdogMicroseconds: Int64?

  init(environment: [String: String]) {
    path = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
    let isMeant = environment["WATCHDOG_PID"].map { $0 == String(getpid()) } ?? true
    watchdogMicroseconds =
      isMeant ? environment["WATCHDOG_USEC"].flatMap(Int64.init).flatMap { $0 > 0 ? $0 : nil } : nil
  }

  /// The server accepts clients.
  func ready(_ address: String) { send("READY=1\nSTATUS=listening on \(address)\n") }

  /// The configuration is read again; ``ready(_:)`` follows.
  func reloading() {
    // The clock that the manager compares with does not jump.
    let microseconds = DispatchTime.now().uptimeNanoseconds / 1_000
    send("RELOADING=1\nMONOTONIC_USEC=\(microseconds)\n")
  }

  /// The server is about to end.
  func stopping() { send("STOPPING=1\n") }

  /// Tells that the server is alive, for as long as its executor answers, until the task ends;
  /// `nil` when the manager does not ask for it.
  func watch(_ server: TernServer) -> Task<Void, Never>? {
    guard path != nil, let watchdogMicroseconds else { return nil }
    let pause = Duration.microseconds(watchdogMicroseconds / 2)
    let operations = ServerOperations(of: server)
    return Task {
      while !Task.isCancelled {
        _ = await operations.readiness
        send("WATCHDOG=1\n")
        do { try await Task.sleep(for: pause) } catch { return }
      }
    }
  }

  /// Sends one datagram; a manager that does not take it misses it.
  private func send(_ text: String) {
    guard let path else { return }
    #if canImport(Glibc)
      let kind = Int32(SOCK_DGRAM.rawValue)
    #else
      let kind = SOCK_DGRAM
    #endif
    let descriptor = socket(AF_UNIX, kind, 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // A name that begins with `@` is one of Linux's own name space, which begins with a zero.
    var name = Array(path.utf8)
    if name.first == UInt8(ascii: "@") { name[0] = 0 }
    let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
    let room = MemoryLayout<sockaddr_un>.size - offset
    guard name.count < room else { return }
    unsafe withUnsafeMutableBytes(of: &address) { bytes in
      for (index, byte) in name.enumerated() { unsafe bytes[offset + index] = byte }
    }
    let isPath = name.first != 0
    let length = socklen_t(offset + name.count + (isPath ? 1 : 0))
    let message = Array(text.utf8)
    // Safe: the call reads both during the call only.
    _ = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { target in
        unsafe message.withUnsafeBytes { bytes in
          unsafe sendto(descriptor, bytes.baseAddress, bytes.count, 0, target, length)
        }
      }
    }
  }
}
