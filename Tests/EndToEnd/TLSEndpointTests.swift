import Foundation
import Testing

@testable import tern

private let python = beside("../../.build/python/bin/python")
private let script = beside("Admin/tls_endpoints.py")

private func beside(_ relative: String) -> String {
  URL(filePath: #filePath).deletingLastPathComponent().appending(path: relative).path
}

@Suite(
  "every endpoint behind TLS", .serialized,
  .enabled(if: FileManager.default.isExecutableFile(atPath: python), "run Tools/python first"))
struct TLSEndpointTests {
  @Test("no connection ends when the certificate is replaced, whichever endpoint it uses")
  func reload() async throws {
    try await withFolder { folder in
      let first = try await ThrowawayCertificate(in: folder)
      let old = folder + "/old.pem"
      try FileManager.default.copyItem(atPath: first.certificate, toPath: old)
      let server = try await ServerUnderTest(
        folder: folder, arguments: ["--tls-cert", first.certificate, "--tls-key", first.key])
      defer { server.process.killNow() }
      try FileManager.default.createDirectory(
        atPath: folder + "/next", withIntermediateDirectories: true)
      let second = try await ThrowawayCertificate(in: folder + "/next")
      let client = try ChildProcess(python, [script, server.address, old, second.certificate])
      defer { client.killNow() }
      let ready = await client.output.line(within: patience) { $0 == "ready" }
      try #require(ready != nil, "\(client.errors.history)")
      for (from, to) in [(second.certificate, first.certificate), (second.key, first.key)] {
        try Data(contentsOf: URL(filePath: from)).write(to: URL(filePath: to), options: .atomic)
      }
      let told = await server.process.errors.line(within: patience) { $0.contains("read again") }
      #expect(told != nil)
      client.send("go on\n")
      let code = await client.exitCode(within: patience)
      _ = await client.output.line(within: patience) { _ in false }
      _ = await client.errors.line(within: patience) { _ in false }
      #expect(code == 0, "\(client.errors.history)")
      #expect(client.output.history.last == "all heard it")
    }
  }
}
