#if os(Linux)
  import CSQLite
  import Glibc

  /// The least a server can do for a durable write: one thread that waits for its sockets,
  /// reads what is there, commits all of it as one transaction of the C library, and answers.
  ///
  /// No framing but a length, no text, no versions, no outcomes, no listeners: what is between it
  /// and the loop without a network is the price of sockets on this machine, for any server.
  final class BareServer {
    static let command = "serve-bare"

    private let store: BareSQLite
    private let listening: Int32
    /// The descriptors to wait for: the listener, then the clients.
    private var waited: [pollfd] = []
    /// Bytes of each client that are no whole request yet.
    private var rests: [Int32: [UInt8]] = [:]
    private var keys: [[UInt8]] = []
    private var value: [UInt8] = []
    /// The clients to answer when the batch is durable, with the number of answers.
    private var owed: [(client: Int32, count: Int)] = []

    private init(_ path: String) throws {
      store = try BareSQLite(path: path + "/bare.sqlite")
      listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let bound = unsafe withUnsafePointer(to: &address) {
        unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe bind(listening, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      guard bound == 0, listen(listening, 256) == 0 else { throw BenchFailure(reason: "no port") }
      watch(listening)
    }

    /// Serves at a free port, which it prints, until the process is ended.
    static func serve(_ path: String) throws {
      let server = try BareServer(path)
      var address = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      unsafe withUnsafeMutablePointer(to: &address) {
        _ = unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe getsockname(server.listening, $0, &length)
        }
      }
      let line = Array("\(UInt16(bigEndian: address.sin_port))\n".utf8)
      _ = unsafe write(1, line, line.count)
      while true {
        _ = unsafe poll(&server.waited, nfds_t(server.waited.count), -1)
        for entry in server.waited where entry.revents != 0 { server.read(entry.fd) }
        try server.commit()
      }
    }

    private func watch(_ descriptor: Int32) {
      waited.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
    }

    private func read(_ client: Int32) {
      if client == listening {
        let accepted = accept(listening, nil, nil)
        var one: Int32 = 1
        _ = unsafe setsockopt(accepted, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
        return watch(accepted)
      }
      var bytes = [UInt8](repeating: 0, count: 64 << 10)
      let count = unsafe Glibc.read(client, &bytes, bytes.count)
      guard count > 0 else {
        rests[client] = nil
        waited.removeAll { $0.fd == client }
        _ = close(client)
        return
      }
      var start = 0
      if let rest = rests.removeValue(forKey: client) {
        bytes = rest + bytes[..<count]
      } else {
        bytes.removeLast(bytes.count - count)
      }
      var taken = 0
      // A request is the lengths of key and value, a byte each, and the two.
      while start + 2 <= bytes.count {
        let (key, value) = (Int(bytes[start]), Int(bytes[start + 1]))
        guard start + 2 + key + value <= bytes.count else { break }
        keys.append(Array(bytes[start + 2..<start + 2 + key]))
        if self.value.isEmpty { self.value = Array(bytes[(start + 2 + key)...].prefix(value)) }
        start += 2 + key + value
        taken += 1
      }
      if start < bytes.count { rests[client] = Array(bytes[start...]) }
      if taken > 0 { owed.append((client, taken)) }
    }

    private func commit() throws {
      if keys.isEmpty { return }
      try store.put(keys[...], value, batch: keys.count)
      keys.removeAll(keepingCapacity: true)
      for (client, count) in owed {
        let answers = [UInt8](repeating: UInt8(ascii: "+"), count: count)
        _ = unsafe write(client, answers, count)
      }
      owed.removeAll(keepingCapacity: true)
    }
  }
#endif
