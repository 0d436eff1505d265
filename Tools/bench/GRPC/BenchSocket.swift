#if TCP && os(Linux)
  import Glibc

  /// A blocking socket of a load generator.
  final class BenchSocket {
    let descriptor: Int32
    private var received: [UInt8] = []
    private var start = 0

    init(port: Int) throws {
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var flag: Int32 = 1
      unsafe setsockopt(
        descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &flag, socklen_t(MemoryLayout<Int32>.size))
      var patience = timeval(tv_sec: 60, tv_usec: 0)
      unsafe setsockopt(
        descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = in_port_t(port).bigEndian
      address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
      let size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let result = unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe connect(descriptor, $0, size)
        }
      }
      if result != 0 { throw BenchFailure(reason: "no connection: \(errno)") }
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) throws {
      var sent = 0
      while sent < bytes.count {
        let count = unsafe bytes.withUnsafeBytes { buffer in
          unsafe Glibc.send(
            descriptor, buffer.baseAddress.map { unsafe $0 + sent }, bytes.count - sent,
            Int32(MSG_NOSIGNAL))
        }
        if count <= 0 { throw BenchFailure(reason: "the connection ended") }
        sent += count
      }
    }

    /// True when so many bytes are there without waiting.
    func holds(_ count: Int) -> Bool { received.count - start >= count }

    /// Waits for bytes, and returns them.
    func read(_ count: Int) throws -> ArraySlice<UInt8> {
      while received.count - start < count { try fill() }
      defer { start += count }
      return received[start..<start + count]
    }

    private func fill() throws {
      if start > 0 {
        received.removeFirst(start)
        start = 0
      }
      var part = [UInt8](repeating: 0, count: 256 << 10)
      let count = unsafe recv(descriptor, &part, part.count, 0)
      if count <= 0 { throw BenchFailure(reason: "the connection ended") }
      received += part[..<count]
    }
  }
#endif
