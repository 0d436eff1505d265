#if TCP
  /// The reason a connection could not be secured.
  ///
  /// The description is a clause about the other end ("it speaks no TLS"), which
  /// `TransportError.notSecure` puts behind the address.
  struct TLSFailure: Error, CustomStringConvertible {
    let description: String
    /// True when the certificate was not accepted, and another proof might be.
    private(set) var isOfCertificate = false

    init(description: String) { self.description = description }

    /// Puts what happens most into words: the library tells numbers and names of its own.
    init(_ error: any Error) {
      let text = "\(error)"
      // The library's errors have no public code for the reason, so the text of BoringSSL is
      // searched.
      isOfCertificate = text.contains("CERTIFICATE_VERIFY_FAILED")
      description =
        if isOfCertificate {
          "its certificate is expired, for another name, or signed by no authority that "
            + "tls.roots or the system trusts"
        } else if text.contains("WRONG_VERSION_NUMBER") {
          "it speaks no TLS"
        } else {
          text
        }
    }
  }
#endif
