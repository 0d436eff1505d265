#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Finds a port without a listener, below those the system gives to clients.
///
/// From among those, a client that tries to reach the killed server could be given the server's own
/// port, and would be connected to itself.
func freePort() throws -> Int {
  for _ in 0..<1_000 {
    let port = Int.random(in: 15_000..<30_000)
    if isFree(port) { return port }
  }
  throw NoFreePort()
}

struct NoFreePort: Error {}

private func isFree(_ port: Int) -> Bool {
  #if canImport(Glibc)
    let kind = Int32(SOCK_STREAM.rawValue)
  #else
    let kind = SOCK_STREAM
  #endif
  let socket = socket(AF_INET, kind, 0)
  defer { close(socket) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = in_port_t(port).bigEndian
  address.sin_addr.s_addr = unsafe inet_addr("127.0.0.1")
  return unsafe withUnsafePointer(to: &address) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
      unsafe bind(socket, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
    }
  }
}
