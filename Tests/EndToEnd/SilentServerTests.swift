import Foundation
import Testing

@testable import tern

/// A server that greets every client, and is silent from then on.
final class SilentServer: Sendable {
  let port: UInt16
  private let socket: Int32

  /// - Parameters:
  ///   - greets: False for a server that sends nothing at all.
  ///   - whenAccepted: Told of each connection, on a thread of its own.
  init(greets: Bool = true, whenAccepted: @escaping @Sendable () -> Void = {}) throws {
    #if canImport(Glibc)
      let kind = Int32(SOCK_STREAM.rawValue)
    #else
      let kind = SOCK_STREAM
    #endif
    socket = Foundation.socket(AF_INET, kind | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { throw SocketError() }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let socket = socket
    let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { place -> Int32 in
        guard unsafe bind(socket, place, size) == 0, listen(socket, 16) == 0 else { return -1 }
        return unsafe getsockname(socket, place, &size)
      }
    }
    guard code == 0 else { throw SocketError() }
    port = UInt16(bigEndian: address.sin_port)
    let greeting = greets ? Self.greeting : []
    Thread.detachNewThread {
      // Connections stay open for as long as this program runs.
      while true {
        let client = unsafe accept(socket, nil, nil)
        guard client >= 0 else { return }
        whenAccepted()
        _ = unsafe greeting.withUnsafeBytes {
          unsafe send(client, $0.baseAddress, $0.count, noSignal)
        }
      }
    }
  }

  deinit {
    shutdown(socket, Int32(SHUT_RDWR))
    close(socket)
  }

  /// The preamble, and the first message of a session of the tree.
  private static var greeting: [UInt8] {
    let hello = Array(
      #"{"t":"c","d":{"t":"h","d":{"ts":1760000000123,"v":"5","h":"127.0.0.1","s":"36160000000000000000000000009e30","w":0}}}"#
        .utf8)
    return preamble + withUnsafeBytes(of: UInt32(hello.count).bigEndian) { Array($0) } + hello
  }
}

@Suite("a server that is silent") struct SilentServerTests {
  /// The tolerance of a command's timeout: the start of a program on a busy machine.
  private static let grace = Duration.seconds(60)

  @Test("every command ends when its time is over, with what the cache has")
  func ends() async throws {
    try await withFolder { folder in
      let real = try await ServerUnderTest(folder: folder)
      let cache = folder + "/cache"
      for command in [["set", "a", "1"], ["get", "a", "--cache", cache, "--timeout", "60"]] {
        #expect(try await run(command + ["--server", real.address]).code == 0)
      }
      #expect(await real.stop() == 0)
      let silent = try SilentServer()
      let commands: [(words: [String], code: Int32)] = [
        (["get", "a", "--cache", cache], 0),
        (["get", "a", "--cache", folder + "/get"], 3),
        (["query", "a", "--cache", folder + "/query"], 3),
        (["export", "a", "--cache", folder + "/export"], 3),
        (["set", "a", "2", "--cache", folder + "/set"], 0),
        (["doc", "get", "c/d", "--cache", folder + "/doc"], 3),
        (["get", "a"], 3), (["set", "a", "3"], 3), (["doc", "get", "c/d"], 3),
      ]
      await withTaskGroup(of: Void.self) { group in
        for (words, code) in commands {
          group.addTask {
            let start = ContinuousClock().now
            let flags = ["--server", "127.0.0.1:\(silent.port)", "--timeout", "2"]
            let ended = try? await run(words + flags)
            let time = start.duration(to: ContinuousClock().now)
            #expect(ended?.code == code, "\(words): \(String(describing: ended))")
            #expect(time < .seconds(2) + Self.grace, "\(words) took \(time)")
            if code == 0, words[0] == "get" { #expect(ended?.output == ["1"]) }
          }
        }
      }
      _ = silent.port
    }
  }
}
