import Foundation
import TernAssembly
import TernFirebaseCompat
import Testing

@testable import tern

@Suite("a server behind TLS", .serialized) struct TLSTests {
  @Test("all endpoints are behind it, and its certificate is replaced while it runs")
  func served() async throws {
    try await withFolder { folder in
      let first = try await ThrowawayCertificate(in: folder)
      let server = try await ServerUnderTest(
        folder: folder, arguments: ["--tls-cert", first.certificate, "--tls-key", first.key])
      defer { server.process.killNow() }
      let old = folder + "/old.pem"
      try FileManager.default.copyItem(atPath: first.certificate, toPath: old)
      #expect(try await server.tern("set", "a", "1", "--ca", old).code == 0)
      let stranger = try await server.tern("get", "a", "--tls")
      #expect(stranger.code == 3)
      #expect(stranger.errors.contains("tls.roots"), "\(stranger)")
      #expect(try await curl(server, "--cacert", old).output == ["1"])
      let clear = try await run(
        ["curl", "-s", "http://127.0.0.1:\(server.port)/a.json"], program: "/usr/bin/env")
      #expect(clear.code != 0)

      let second = try await ThrowawayCertificate(in: folder)
      let reading = "certificate was read again"
      let told = await server.process.errors.line(within: patience) { $0.contains(reading) }
      #expect(told != nil)
      #expect(try await curl(server, "--cacert", second.certificate).output == ["1"])
      #expect(try await curl(server, "--cacert", old).code != 0)
      kill(server.process.processID, SIGHUP)
      let again = await server.process.errors.line(within: patience) { $0.contains(reading) }
      #expect(again != nil)
      #expect(await server.stop() == 0)
    }
  }

  @Test("Firestore asks for encryption, and reaches a server behind TLS")
  func firestore() async throws {
    try await withFolder { folder in
      let certificate = try await ThrowawayCertificate(in: folder)
      let server = try await ServerUnderTest(
        folder: folder,
        arguments: ["--tls-cert", certificate.certificate, "--tls-key", certificate.key])
      defer { server.process.killNow() }
      func database(_ name: String, isEncrypted: Bool, trusting roots: String?) throws -> Firestore
      {
        var transport: ConfigurationValue = ["kind": "tcp", "host": "192.0.2.1", "port": 9]
        if let roots {
          transport = .object(
            transport.members.merging(["tls": ["roots": .string(roots)]]) { $1 })
        }
        let app = FirebaseApp.configure(
          name: folder + name,
          configuration: Configuration(storage: ["kind": "memory"], transport: transport))
        let database = Firestore.firestore(app: app)
        let settings = database.settings
        settings.host = "localhost:\(server.port)"
        settings.isSSLEnabled = isEncrypted
        try database.configure(settings)
        return database
      }
      let safe = try database("safe", isEncrypted: true, trusting: certificate.certificate)
      try await safe.document("cities/SF").setData(["state": "CA"])
      let read = try await safe.document("cities/SF").getDocument(source: .server)
      #expect(read.data()?["state"] as? String == "CA")
      // In the clear the server is not reached, nor with a certificate that no root signed.
      for database in [
        try database("clear", isEncrypted: false, trusting: certificate.certificate),
        try database("stranger", isEncrypted: true, trusting: nil),
      ] {
        await #expect(throws: (any Error).self) {
          try await database.document("cities/SF").getDocument(source: .server)
        }
        try await database.terminate()
      }
      try await safe.terminate()
      #expect(await server.stop() == 0)
    }
  }

  @Test("no server listens in the clear beyond this machine by mistake")
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
