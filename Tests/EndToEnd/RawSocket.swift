#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The first bytes of a connection; see Docs/Formats/tcp-frames.md.
let preamble = Array("TERN".utf8) + [0, 0, 0, 1]

/// The failure of a socket in a test.
struct SocketError: Error {
  let code = errno
}

/// Connects to a port of this machine, sends bytes, ends its output if told so, waits until the
/// other side has closed; answers what it sent.
@discardableResult
func sendBytes(
  _ bytes: [UInt8], toPort port: UInt16, endingOutput: Bool = true
) throws -> [UInt8] {
  let socket = try connectedSocket(toPort: port)
  defer { close(socket) }
  _ = unsafe bytes.withUnsafeBytes { unsafe send(socket, $0.baseAddress, $0.count, noSignal) }
  if endingOutput { shutdown(socket, Int32(SHUT_WR)) }
  var answer = [UInt8](repeating: 0, count: 4_096)
  var received: [UInt8] = []
  while true {
    let count = unsafe recv(socket, &answer, answer.count, 0)
    if count <= 0 { return received }
    received += answer[..<count]
  }
}

/// A socket that is connected to a port of this machine, to be closed by the caller.
private func connectedSocket(toPort port: UInt16) throws -> Int32 {
  #if canImport(Glibc)
    let kind = Int32(SOCK_STREAM.rawValue)
  #else
    let kind = SOCK_STREAM
  #endif
  let socket = socket(AF_INET, kind, 0)
  guard socket >= 0 else { throw SocketError() }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  let size = socklen_t(MemoryLayout<sockaddr_in>.size)
  let connected = unsafe withUnsafePointer(to: address) { pointer in
    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      unsafe connect(socket, $0, size)
    }
  }
  guard connected == 0 else {
    defer { close(socket) }
    throw SocketError()
  }
  return socket
}

/// A request for server-sent events, and what comes of it.
final class StreamUnderTest {
  private let socket: Int32
  private var received: [UInt8] = []

  init(_ target: String, port: Int) throws {
    socket = try connectedSocket(toPort: UInt16(port))
    // A longer wait is in vain: the test is to fail, not to hang.
    var patience = timeval(tv_sec: 60, tv_usec: 0)
    unsafe setsockopt(
      socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    let request = Array(
      "GET \(target) HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n".utf8)
    _ = unsafe request.withUnsafeBytes { unsafe send(socket, $0.baseAddress, $0.count, noSignal) }
    _ = read(through: "\r\n\r\n")
  }

  deinit { close(socket) }

  /// Everything up to `mark`, without the lengths of chunks; less at the end of the stream.
  func read(through mark: String) -> String {
    let wanted = Array(mark.utf8)
    while true {
      if let found = received.firstRange(of: wanted) {
        defer { received.removeSubrange(..<found.upperBound) }
        return String(decoding: received[..<found.upperBound], as: UTF8.self)
      }
      var part = [UInt8](repeating: 0, count: 4_096)
      let count = unsafe recv(socket, &part, part.count, 0)
      if count <= 0 { return String(decoding: received, as: UTF8.self) }
      received += part[..<count]
    }
  }
}

#if canImport(Darwin)
  let noSignal: Int32 = 0
#else
  let noSignal = Int32(MSG_NOSIGNAL)
#endif
