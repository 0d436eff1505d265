#if TCP
  import Foundation
  import TernTransport
  import TernTransportTCP

  /// A certificate for this machine that signs itself, made by the `openssl` program.
  struct ThrowawayCertificate: Sendable {
    let certificate: String
    let key: String

    /// - Parameters:
    ///   - name: The name it is for; 127.0.0.1 it is always for.
    ///   - folder: Where its two files are put.
    init(named name: String = "localhost", in folder: String) throws {
      let stem = folder + "/" + UUID().uuidString
      (certificate, key) = (stem + ".cert.pem", stem + ".key.pem")
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = [
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
        "-nodes", "-days", "2", "-subj", "/CN=\(name)", "-addext",
        "subjectAltName=DNS:\(name),IP:127.0.0.1", "-keyout", key, "-out", certificate,
      ]
      process.standardError = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      guard process.terminationStatus == 0 else {
        throw TransportError.invalidOption(name: "openssl", reason: "it made no certificate")
      }
    }

    var server: TLSOptions {
      var options = TLSOptions()
      (options.certificate, options.key) = (certificate, key)
      return options
    }

    /// Trusts this certificate and no other; may listen, too.
    var client: TLSOptions {
      var options = server
      options.roots = certificate
      return options
    }

    /// One for all tests of the program.
    static let shared = Result<ThrowawayCertificate, TransportError> {
      () throws(TransportError) in
      do {
        return try ThrowawayCertificate(in: FileManager.default.temporaryDirectory.path)
      } catch {
        throw .invalidOption(name: "openssl", reason: "\(error)")
      }
    }
  }
#endif
