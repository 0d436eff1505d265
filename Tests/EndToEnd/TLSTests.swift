import Foundation
import Testing

@testable import tern

@Suite("a server behind TLS", .serialized) struct TLSTests {
  @Test("all doors are behind it, and its certificate is replaced while it runs")
  func served() async throws {
    try await withFolder { folder in
      let first = try await ThrowawayCertificate(in: folder)
      let server = try await ServerUnderTest(
        folder: folder, arguments: ["--tls-cert", first.certificate, "--tls-key", first.key])
      defer { server.process.killNow() }
      let old = folder + "/old.pem"
      try FileManager.default.copyItem(atPath: first.certificate, toPath: old)
      #expect(try await server.tern("set", "a", "1", "--ca", old).code == 0)
      #expect(try await server.tern("get", "a", "--tls", "--timeout", "2").code == 3)
      #expect(try await curl(server, "--cacert", old).output == ["1"])
      let clear = try await run(
        ["curl", "-s", "http://127.0.0.1:\(server.port)/a.json"], program: "/usr/bin/env")
      #expect(clear.code != 0)

      let second = try await ThrowawayCertificate(in: folder)
      let told = await server.process.errors.line(within: patience) { $0.contains("read again") }
      #expect(told != nil)
      #expect(try await curl(server, "--cacert", second.certificate).output == ["1"])
      #expect(try await curl(server, "--cacert", old).code != 0)
      kill(server.process.processID, SIGHUP)
      let end = ContinuousClock.now + patience
      func readings() -> Int {
        server.process.errors.history.count { $0.contains("read again") }
      }
      while readings() < 2, ContinuousClock.now < end { await Task.yield() }
      #expect(readings() == 2)
      #expect(await server.stop() == 0)
    }
  }

  @Test("nobody listens in the clear beyond this machine by mistake")
  func refusal() async throws {
    try await withFolder { folder in
      let refused = try await run(["serve", "--host", "0.0.0.0", "--port", "0"], folder: folder)
      #expect(refused.code == 2)
      for flag in ["--tls-cert", "--tls-key", "--insecure"] {
        #expect(refused.errors.contains(flag), "\(refused)")
      }
      let half = try await run(
        ["serve", "--tls-cert", folder + "/none.pem", "--port", "0"], folder: folder)
      #expect(half.code == 2 && half.errors.contains("tls.key"), "\(half)")
    }
  }

  private func curl(_ server: ServerUnderTest, _ arguments: String...) async throws -> Finished {
    try await run(
      ["curl", "-s", "-w", "\n"] + arguments + ["https://localhost:\(server.port)/a.json"],
      program: "/usr/bin/env")
  }
}
