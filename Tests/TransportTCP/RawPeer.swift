#if canImport(Glibc)
  import Glibc

  /// A plain socket that speaks to a transport without knowing its rules.
  final class RawPeer {
    private var socket: Int32

    /// Connects to a port of this machine.
    init(port: Int) throws {
      socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = in_port_t(port).bigEndian
      address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
      let size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let result = unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe connect(socket, $0, size)
        }
      }
      if result != 0 { throw SystemError(code: errno) }
    }

    deinit { if socket >= 0 { close(socket) } }

    func send(_ bytes: [UInt8]) {
      let sent = unsafe write(socket, bytes, bytes.count)
      precondition(sent == bytes.count, "a small write fits the socket's buffer")
    }

    /// Everything the other side sends until it closes; `nil` after a reset.
    func readToEnd() -> [UInt8]? {
      var all: [UInt8] = []
      var part = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = unsafe Glibc.read(socket, &part, part.count)
        if count < 0 { return nil }
        if count == 0 { return all }
        all += part[..<count]
      }
    }

    /// The next bytes, so many; fewer at the end.
    func read(count: Int) -> [UInt8] {
      var all: [UInt8] = []
      var part = [UInt8](repeating: 0, count: 65_536)
      while all.count < count {
        let got = unsafe Glibc.read(socket, &part, min(part.count, count - all.count))
        if got <= 0 { break }
        all += part[..<got]
      }
      return all
    }

    /// Says that nothing more will be sent; reading goes on.
    func closeOutput() { shutdown(socket, Int32(SHUT_WR)) }

    /// Ends the connection as a crashing machine would.
    func reset() {
      var option = linger(l_onoff: 1, l_linger: 0)
      let size = socklen_t(MemoryLayout<linger>.size)
      unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, size)
      close(socket)
      socket = -1
    }
  }

  struct SystemError: Error {
    let code: Int32
  }
#endif
