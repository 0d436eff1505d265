#if TCP
  import Foundation
  import TernTransport
  import TernTransportTCP

  /// A certificate for this machine that signs itself, made by the `openssl` program.
  struct ThrowawayCertificate: Sendable {
    let certificate: String
    let key: String

    /// - Parameters:
    ///   - name: The name it is for.
    ///   - hasAddress: Whether it is for 127.0.0.1, too.
    ///   - folder: Where its two files are put.
    init(
      named name: String = "localhost", hasAddress: Bool = true, in folder: String
    ) throws {
      let stem = folder + "/" + UUID().uuidString
      (certificate, key) = (stem + ".cert.pem", stem + ".key.pem")
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = [
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
        "-nodes", "-days", "2", "-subj", "/CN=\(name)", "-addext",
        "subjectAltName=DNS:\(name)" + (hasAddress ? ",IP:127.0.0.1" : ""), "-keyout", key, "-out",
        certificate,
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

    /// Trusts this certificate and no other.
    var client: TLSOptions {
      var options = TLSOptions()
      options.roots = certificate
      return options
    }
  }
#endif
