#if canImport(Glibc)
  import Glibc
  import TernSpecReplay

  /// One request over a socket of its own, and the whole answer to it.
  enum HTTPExchange {
    /// An answer.
    struct Answer {
      let status: Int
      let body: [UInt8]
    }

    /// The time limit for the answer, so that a replay fails rather than hangs.
    private static let patienceSeconds = 60

    static func send(
      _ method: String, _ target: String, body: [UInt8]?, headers: [(String, String)], port: Int
    ) throws(SpecError) -> Answer {
      var head = "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
      for (name, value) in headers { head += "\(name): \(value)\r\n" }
      if let body { head += "Content-Length: \(body.count)\r\n" }
      return try answer(try exchange(Array((head + "\r\n").utf8) + (body ?? []), port: port))
    }

    private static func exchange(_ request: [UInt8], port: Int) throws(SpecError) -> [UInt8] {
      let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(socket) }
      var patience = timeval(tv_sec: patienceSeconds, tv_usec: 0)
      unsafe setsockopt(
        socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
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
      guard result == 0 else { throw SpecError("no connection: errno \(errno)") }
      var rest = request[...]
      while !rest.isEmpty {
        let piece = Array(rest.prefix(1 << 20))
        let count = unsafe Glibc.send(socket, piece, piece.count, Int32(MSG_NOSIGNAL))
        // A server that rejects a request without reading it to its end has answered.
        if count <= 0 { break }
        rest = rest.dropFirst(count)
      }
      var received: [UInt8] = []
      var piece = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let count = unsafe recv(socket, &piece, piece.count, 0)
        if count <= 0 { return received }
        received += piece[..<count]
      }
    }

    private static func answer(_ bytes: [UInt8]) throws(SpecError) -> Answer {
      guard let end = headEnd(bytes) else { throw SpecError("the answer has no head") }
      let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
      let words = lines.first?.split(separator: " ") ?? []
      guard words.count > 1, let status = Int(words[1]) else {
        throw SpecError("the answer has no status")
      }
      let isChunked = lines.contains { $0.lowercased() == "transfer-encoding: chunked" }
      let body = Array(bytes[(end + 4)...])
      return Answer(status: status, body: isChunked ? try joined(body) : body)
    }

    private static func headEnd(_ bytes: [UInt8]) -> Int? {
      let mark = Array("\r\n\r\n".utf8)
      return bytes.indices.dropLast(3).first { bytes[$0..<$0 + 4].elementsEqual(mark) }
    }

    /// Joins the chunks of a body.
    private static func joined(_ body: [UInt8]) throws(SpecError) -> [UInt8] {
      var joined: [UInt8] = []
      var rest = body[...]
      while let end = rest.firstIndex(of: UInt8(ascii: "\r")) {
        let digits = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
        guard let count = Int(digits, radix: 16), end + 2 + count <= rest.endIndex else { break }
        if count == 0 { return joined }
        joined += rest[(end + 2)..<(end + 2 + count)]
        rest = rest[(end + 2 + count)...].dropFirst(2)
      }
      throw SpecError("the answer's chunks do not end")
    }
  }
#endif
