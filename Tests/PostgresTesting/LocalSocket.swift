import Foundation

/// A TCP socket on 127.0.0.1 that blocks.
package struct LocalSocket: Sendable {
  /// The reason of the system.
  package struct Failure: Error { package let code: Int32 }

  /// The descriptor of the socket.
  package let descriptor: Int32

  private init(_ descriptor: Int32) throws {
    guard descriptor >= 0 else { throw Failure(code: errno) }
    self.descriptor = descriptor
  }

  private init() throws {
    #if canImport(Glibc)
      try self.init(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    #else
      try self.init(socket(AF_INET, SOCK_STREAM, 0))
    #endif
  }

  /// Listens at a port; 0 is a free one.
  package init(listening backlog: Int32, at port: UInt16 = 0) throws {
    try self.init()
    do {
      try unsafe call(port: port, unsafe bind)
      guard listen(descriptor, backlog) == 0 else { throw Failure(code: errno) }
    } catch {
      close()
      throw error
    }
  }

  /// Connects to a port.
  package init(connectingTo port: UInt16) throws {
    try self.init()
    do { try unsafe call(port: port, unsafe connect) } catch {
      close()
      throw error
    }
  }

  private func call(
    port: UInt16,
    _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32
  ) throws {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = unsafe withUnsafeBytes(of: &address) {
      unsafe function(
        descriptor, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self),
        socklen_t(MemoryLayout<sockaddr_in>.size))
    }
    guard result == 0 else { throw Failure(code: errno) }
  }

  /// The local port.
  package var port: UInt16 {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = unsafe withUnsafeMutableBytes(of: &address) {
      guard let base = $0.baseAddress else { return Int32(-1) }
      return unsafe getsockname(
        descriptor, base.assumingMemoryBound(to: sockaddr.self), &length)
    }
    return UInt16(bigEndian: address.sin_port)
  }

  /// Waits for a connection; `nil` once the socket was cut.
  package func accept() -> LocalSocket? {
    // The name of the method hides that of the C library.
    #if canImport(Glibc)
      let accepted = Glibc.accept(descriptor, nil, nil)
    #else
      let accepted = Darwin.accept(descriptor, nil, nil)
    #endif
    return try? LocalSocket(accepted)
  }

  /// Returns the next bytes; none at the end or after ``cut()``.
  package func read() -> ArraySlice<UInt8> {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe buffer.withUnsafeMutableBytes {
      unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
    }
    return buffer.prefix(max(0, count))
  }

  /// Writes all of the bytes, unless the connection ends.
  package func write(_ bytes: ArraySlice<UInt8>) {
    var rest = bytes
    #if canImport(Glibc)
      let flags = Int32(MSG_NOSIGNAL)
    #else
      let flags: Int32 = 0
    #endif
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe send(descriptor, $0.baseAddress, $0.count, flags)
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Ends the connection in both directions and wakes the threads that wait for it.
  package func cut() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Gives the descriptor back.
  package func close() {
    #if canImport(Glibc)
      _ = Glibc.close(descriptor)
    #else
      _ = Darwin.close(descriptor)
    #endif
  }
}
