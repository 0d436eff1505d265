#if TCP
  import Foundation
  import TernTransport
  import TernTransportTCP

  /// A certificate for this machine that signs itself, or is signed by another one; made by the
  /// `openssl` program.
  struct ThrowawayCertificate: Sendable {
    var certificate: String
    let key: String

    /// - Parameters:
    ///   - name: The name it is for.
    ///   - hasAddress: Whether it is for 127.0.0.1, too.
    ///   - authority: The certificate that signs it; itself if left out.
    ///   - folder: Where its two files are put.
    init(
      named name: String = "localhost", hasAddress: Bool = true,
      signedBy authority: ThrowawayCertificate? = nil, in folder: String
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
      if let authority {
        process.arguments? += ["-CA", authority.certificate, "-CAkey", authority.key]
      }
      process.standardError = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      guard process.terminationStatus == 0 else {
        throw TransportError.invalidOption(name: "openssl", reason: "it made no certificate")
      }
    }

    /// Returns the same certificate in a file that has another one behind it.
    func followed(by other: ThrowawayCertificate) throws -> ThrowawayCertificate {
      var chain = self
      chain.certificate += ".chain.pem"
      var bytes = try Data(contentsOf: URL(filePath: certificate))
      bytes += try Data(contentsOf: URL(filePath: other.certificate))
      try bytes.write(to: URL(filePath: chain.certificate))
      return chain
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
