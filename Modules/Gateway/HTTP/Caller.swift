import TernCore
import TernSecurity
import TernTransportTCP

/// The origin of a request, and the database it names.
struct Caller: Equatable, Sendable {
  /// The database.
  let namespace: String
  /// True when the request was made on this machine, by a program or a page of this machine.
  let isLocal: Bool
  /// The address of the request's origin, without the port.
  let address: String
  /// The name of the other end, for logs and for links. Only that of a local one is an address.
  let peer: String

  /// Tells it from a request.
  ///
  /// A browser sends what any page asks it to, from the machine it runs on. So a request is local
  /// only if the page it belongs to came from here, if it was not sent on by a proxy, and if it
  /// was addressed to this machine: otherwise a page of another site could speak for its reader.
  ///
  /// - Parameter proxies: Those whose `X-Forwarded-For` names the client. What they pass on is
  ///   never local, whatever it says.
  init(
    _ request: HTTPRequest, _ target: RequestTarget, behind proxies: TrustedProxies = .init()
  ) {
    let host = request.headers["host"] ?? ""
    let origin = request.headers["origin"]
    let isForwarded = Self.proxyFields.contains { request.headers[$0] != nil }
    // Scripts and images are asked for without an origin, but browsers say where they belong: by
    // the page's address, or if that is to be hidden, in one word.
    let isFromHere =
      (origin ?? request.headers["referer"]).map { HostName(page: $0).isThisMachine }
      ?? (request.headers["sec-fetch-site"] != "cross-site")
    isLocal =
      HostName.isLoopbackPeer(request.peer) && HostName(host).isThisMachine && !isForwarded
      && isFromHere
    // The last colon divides address and port, also in an IPv6 address.
    let end = request.peer.lastIndex(of: ":") ?? request.peer.endIndex
    let direct = String(request.peer[..<end])
    let named = Self.client(of: request, from: direct, behind: proxies)
    address = named ?? direct
    let other = named.map { "\($0):0" } ?? request.peer
    // The peer of a request that is not local begins with `remote`, so that no rule of access
    // takes it for one of this machine by its address.
    peer = isLocal ? request.peer : "remote \(other)" + (origin.map { " for \($0)" } ?? "")
    namespace = target["ns"] ?? HostName(host).namespace ?? Self.defaultNamespace
  }

  /// The client that a trusted proxy names: the last address of its list that is no such proxy.
  ///
  /// - Returns: `nil` when the peer is no trusted proxy, or when the list holds something that
  ///   is no address: what lies before that cannot be believed.
  private static func client(
    of request: HTTPRequest, from peer: String, behind proxies: TrustedProxies
  ) -> String? {
    guard !proxies.isEmpty, proxies.contains(peer) else { return nil }
    for entry in request.headers.list("x-forwarded-for").reversed() {
      guard let address = TrustedProxies.address(in: String(entry)) else { return nil }
      if !proxies.contains(address) { return address }
    }
    return nil
  }

  /// The fields that proxies add to what they pass on; one is enough.
  private static let proxyFields = [
    "forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip",
  ]

  /// The fields that tell the origin of a request, beside its host.
  private static let fields = Set(proxyFields + ["origin", "referer", "sec-fetch-site"])

  /// Returns true for the name, in lower case, of a field that tells the origin of a request.
  static func isField(_ name: String) -> Bool {
    // Most fields are none, and told by their first letter.
    switch name.utf8.first {
    case UInt8(ascii: "f"), UInt8(ascii: "o"), UInt8(ascii: "r"), UInt8(ascii: "s"),
      UInt8(ascii: "v"), UInt8(ascii: "x"):
      fields.contains(name)
    default: false
    }
  }

  /// The database of those who name none.
  static let defaultNamespace = "default"
}

/// The host of a `Host` or `Origin` header.
struct HostName: Equatable, Sendable {
  /// Without the port, in lower case; an IPv6 address keeps its brackets.
  let name: String

  /// Reads `host`, `host:port` or `[address]:port`.
  ///
  /// A name with several colons and no brackets is cut at the first one.
  init(_ text: String) {
    let text = text.lowercased()
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      name = String(text[...end])
    } else {
      name = String(text.prefix { $0 != ":" })
    }
  }

  /// Reads `scheme://host:port`, with a path or without; `null` and what is no address has no name.
  init(page: String) {
    let parts = page.split(separator: "/", omittingEmptySubsequences: false)
    let isAddress = parts.count >= 3 && parts[0].hasSuffix(":") && parts[1].isEmpty
    self.init(isAddress ? String(parts[2]) : "")
  }

  /// True for an address in place of a name.
  var isAddress: Bool {
    name.hasPrefix("[") || name.utf8.allSatisfy { "0123456789.".utf8.contains($0) }
  }

  /// True when the name can only mean this machine.
  var isThisMachine: Bool {
    name == "localhost" || name.hasSuffix(".localhost") || name == "[::1]"
      || (isAddress && name.hasPrefix("127."))
  }

  /// The first label of a name that has more than a host needs: `db` of `db.example.com` and of
  /// `db.localhost`.
  var namespace: String? {
    let labels = name.split(separator: ".")
    let needed = labels.last == "localhost" ? 1 : 2
    guard !isAddress, labels.count > needed else { return nil }
    return String(labels[0])
  }

  /// Returns true when a link's peer, an address with its port, is on this machine.
  static func isLoopbackPeer(_ peer: String) -> Bool {
    TrustedProxies.isLoopback(String(peer[..<(peer.lastIndex(of: ":") ?? peer.endIndex)]))
  }
}
