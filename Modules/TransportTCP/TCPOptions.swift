import TernTransport

/// The addresses that a TCP transport connects to, or the one that it listens at, and its limits.
///
/// In the configuration: `{"kind": "tcp", "host": "127.0.0.1", "port": 9000}`; the rest has
/// standard values. A client may know several addresses of the same data, such as the nodes of a
/// cluster: `"host": "a.example.com,b.example.com:9001"`, where `port` is the port of those without
/// one of their own.
public struct TCPOptions: Decodable, Hashable, Sendable {
  /// A name or an address; 127.0.0.1 if it is left out.
  public var host: String
  /// 0...65535; a listener at port 0 gets a free one. 9000 if it is left out.
  public var port: Int
  /// Further addresses, for clients, in the order in which they are tried after the first one; at
  /// most ``TCPAddress/limit`` with it. A transport with any does not listen.
  public var alternatives: [TCPAddress] = []
  /// The longest frame in bytes, 1...2^31 - 1.
  public var frameLimitBytes: Int
  /// The most memory that frames which are not whole may take at once, over all links, 1...2^40
  /// bytes. The link that would take more is ended (`LinkClosure.overloaded(limitBytes:)`).
  public var heldFrameBytes: Int
  /// The time limit of a connection attempt, 1...3600. A client that knows several addresses waits
  /// so long for a machine that is silent before it tries the next one.
  public var connectTimeoutSeconds: Int
  /// The time limit for the preamble of the other end, 1...3600.
  public var preambleTimeoutSeconds: Int
  /// The connections per second that one address may open at a listener, 1...1,000,000, and those
  /// of 50 seconds at once after a rest; those beyond are closed. Trusted proxies are exempt, and
  /// nodes of the cluster.
  public var connectionsPerAddress: Int
  /// The time that a closed link goes on delivering earlier output, 1...3600.
  public var lingerSeconds: Int
  /// The options of TLS; `nil` sends everything in the clear.
  public var tls: TLSOptions?

  /// Options with standard limits.
  public init(host: String = "127.0.0.1", port: Int = 9000) {
    self.host = host
    self.port = port
    frameLimitBytes = FrameLimit.standard.bytes
    heldFrameBytes = 512 << 20
    connectTimeoutSeconds = 10
    preambleTimeoutSeconds = 10
    connectionsPerAddress = 200
    lingerSeconds = 5
  }

  /// The keys of the section. ``alternatives`` have none: `host` holds the whole list of addresses.
  private enum CodingKeys: String, CodingKey {
    case host, port, frameLimitBytes, connectTimeoutSeconds, preambleTimeoutSeconds
    case connectionsPerAddress, heldFrameBytes, lingerSeconds, tls
  }

  /// Reads the section; what it leaves out keeps its standard value.
  public init(from decoder: any Decoder) throws {
    let section = try decoder.container(keyedBy: CodingKeys.self)
    self.init()
    let standardPort = try section.decodeIfPresent(Int.self, forKey: .port) ?? port
    let places = try section.decodeIfPresent(String.self, forKey: .host) ?? host
    addresses = try TCPAddress.list(places, defaultPort: standardPort)
    frameLimitBytes =
      try section.decodeIfPresent(Int.self, forKey: .frameLimitBytes) ?? frameLimitBytes
    heldFrameBytes =
      try section.decodeIfPresent(Int.self, forKey: .heldFrameBytes) ?? heldFrameBytes
    connectTimeoutSeconds =
      try section.decodeIfPresent(Int.self, forKey: .connectTimeoutSeconds)
      ?? connectTimeoutSeconds
    preambleTimeoutSeconds =
      try section.decodeIfPresent(Int.self, forKey: .preambleTimeoutSeconds)
      ?? preambleTimeoutSeconds
    connectionsPerAddress =
      try section.decodeIfPresent(Int.self, forKey: .connectionsPerAddress)
      ?? connectionsPerAddress
    lingerSeconds =
      try section.decodeIfPresent(Int.self, forKey: .lingerSeconds) ?? lingerSeconds
    tls = try section.decodeIfPresent(TLSOptions.self, forKey: .tls)
  }

  /// Checks every range.
  ///
  /// - Throws: `invalidOption` with the name of the first option that is out of range. No file
  ///   is read and no name is looked up.
  func validate() throws(TransportError) {
    try Self.check("frameLimitBytes", frameLimitBytes, 1...Int(Int32.max))
    try Self.check("heldFrameBytes", heldFrameBytes, 1...1 << 40)
    try Self.check("connectTimeoutSeconds", connectTimeoutSeconds, 1...3600)
    try Self.check("preambleTimeoutSeconds", preambleTimeoutSeconds, 1...3600)
    try Self.check("connectionsPerAddress", connectionsPerAddress, 1...1_000_000)
    try Self.check("lingerSeconds", lingerSeconds, 1...3600)
    try tls?.validate()
    for address in addresses {
      if address.host.isEmpty { throw .invalidOption(name: "host", reason: "it is empty") }
      try Self.check("port", address.port, 0...65535)
    }
    try TCPAddress.validate(addresses)
  }

  /// All addresses, the first one first; never empty.
  package var addresses: [TCPAddress] {
    get { [TCPAddress(host: host, port: port)] + alternatives }
    set {
      host = newValue[0].host
      port = newValue[0].port
      alternatives = Array(newValue.dropFirst())
    }
  }

  /// The options of a connection to one of the addresses.
  func reaching(_ address: TCPAddress) -> TCPOptions {
    var options = self
    options.addresses = [address]
    return options
  }

  /// - Throws: `invalidOption` with the name, the value and the range.
  private static func check(
    _ name: String, _ value: Int, _ range: ClosedRange<Int>
  ) throws(TransportError) {
    if !range.contains(value) {
      throw .invalidOption(
        name: name, reason: "\(value) is not in \(range.lowerBound)...\(range.upperBound)")
    }
  }
}
