#if TLS
  import NIOSSL

  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Android)
    import Android
  #endif

  /// The identity that a client demands of a server's certificate: a name, or an address.
  ///
  /// When a name was requested, the library also accepts a certificate for the address of the other
  /// end. An attacker who redirects the name to another machine could then present a certificate
  /// for that address, and some roots sign such. So the certificate is examined once more: by its
  /// names for a name, by its addresses for an address. Source: RFC 6125, section 6.
  enum TLSIdentity: Equatable {
    /// A name in lower case, without a dot at its end.
    case name([UInt8])
    /// The 4 or 16 bytes of an address, most significant first.
    case address([UInt8])

    /// Reads a host as it is spelled in options.
    init(_ host: String) {
      for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
        var bytes = [UInt8](repeating: 0, count: count)
        if unsafe inet_pton(family, host, &bytes) == 1 {
          self = .address(bytes)
          return
        }
      }
      self = .name(Self.canonical(host.utf8))
    }

    /// Returns true when a certificate, which is genuine, is for this identity.
    ///
    /// A name is never compared with addresses, nor an address with names.
    func isNamed(by certificate: NIOSSLCertificate) -> Bool {
      let names = certificate._subjectAlternativeNames()
      // Without any, the library has compared the certificate's subject.
      if names.isEmpty { return true }
      return names.contains { name in
        switch (self, name.nameType) {
        case (.name(let wanted), .dnsName): Self.covers(Array(name.contents), wanted)
        case (.address(let wanted), .ipAddress): Array(name.contents) == wanted
        default: false
        }
      }
    }

    /// Returns true when a name in a certificate, which may have a star as its first label, covers
    /// a name.
    ///
    /// The star stands for exactly one label, and only for the whole first one: `*.example.com`
    /// covers `a.example.com`, neither `example.com` nor `a.b.example.com`. Source: RFC 6125,
    /// section 6.4.3.
    static func covers(_ pattern: [UInt8], _ name: [UInt8]) -> Bool {
      let pattern = canonical(pattern)
      guard pattern.starts(with: [UInt8(ascii: "*"), dot]) else { return pattern == name }
      guard let end = name.firstIndex(of: dot), end > 0 else { return false }
      return pattern.dropFirst(1) == name[end...]
    }

    /// In lower case, and without a dot at its end.
    private static func canonical(_ name: some Sequence<UInt8>) -> [UInt8] {
      let lower = name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
      return lower.last == dot ? Array(lower.dropLast()) : lower
    }

    private static let dot = UInt8(ascii: ".")
  }
#endif
