#if TCP
  import Foundation
  import NIOCore

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// Sockets without anything around them, connected to ports of this machine.
  final class BareSockets {
    private var waited: [pollfd] = []
    /// The greatest amount of one receive: 64 KiB.
    private var buffer = ByteBuffer(repeating: 0, count: 64 << 10)

    /// One socket for each port, in their order.
    init(ports: [Int]) throws {
      for port in ports {
        waited.append(pollfd(fd: try Self.connect(port), events: Int16(POLLIN), revents: 0))
      }
    }

    deinit {
      for entry in waited { _ = close(entry.fd) }
    }

    private static func connect(_ port: Int) throws -> Int32 {
      #if canImport(Glibc)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
      #endif
      var one: Int32 = 1
      _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      address.sin_port = UInt16(port).bigEndian
      // Safe: the address lives through the call.
      let connected = unsafe withUnsafePointer(to: &address) {
        unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      guard connected == 0 else { throw BenchFailure(reason: "nobody listens at \(port)") }
      return descriptor
    }

    /// Sends all of `bytes`, and waits for room where there is none.
    func send(_ bytes: [UInt8], on number: Int) throws {
      // Safe: the call reads the bytes and keeps no pointer.
      let sent = unsafe bytes.withUnsafeBytes { bytes in
        unsafe write(waited[number].fd, bytes.baseAddress, bytes.count)
      }
      guard sent == bytes.count else { throw BenchFailure(reason: "a socket took \(sent) bytes") }
    }

    /// Takes what every socket has now, with one call for each that has something.
    ///
    /// - Parameter milliseconds: The time to wait if none has anything.
    /// - Returns: How many had something.
    func receive(
      waiting milliseconds: Int32 = 0, _ take: (Int, inout ByteBuffer) -> Void
    ) throws -> Int {
      let ready = unsafe poll(&waited, nfds_t(waited.count), milliseconds)
      if ready <= 0 { return 0 }
      for number in waited.indices where waited[number].revents != 0 {
        buffer.clear()
        let count = unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 64 << 10) {
          unsafe max(0, read(waited[number].fd, $0.baseAddress, $0.count))
        }
        guard count > 0 else { throw BenchFailure(reason: "the server closed a socket") }
        take(number, &buffer)
      }
      return Int(ready)
    }

    func rest(microseconds: UInt32) { usleep(microseconds) }

    /// Processor time of this process so far, in it and in the system for it.
    static var processorSeconds: Double {
      var time = timespec()
      _ = unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
      return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
  }
#endif
