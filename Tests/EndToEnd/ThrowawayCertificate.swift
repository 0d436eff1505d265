import Foundation

/// A certificate for this machine that signs itself, made by the `openssl` program.
struct ThrowawayCertificate: Sendable {
  let certificate: String
  let key: String

  /// Puts its two files into a folder, in the place of what was there.
  init(in folder: String) async throws {
    (certificate, key) = (folder + "/cert.pem", folder + "/key.pem")
    let made = try await run(
      [
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
        "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
        "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate,
      ], program: "/usr/bin/env")
    guard made.code == 0 else { throw NoCertificate(reason: made.errors) }
  }

  struct NoCertificate: Error { let reason: String }
}
