import ArgumentParser
import TernTransportTCP

/// The flags for the server that a command of an operator asks.
struct AdminFlags: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The server; of several addresses with commas between, the first that can be reached. "
        + "(default: TERN_SERVER, the context, or 127.0.0.1:9000)",
      valueName: "host[:port]"))
  var server: String?

  @Option(
    help: ArgumentHelp(
      "A file with the token of an administrator. (default: what TERN_TOKEN says)",
      valueName: "file"))
  var token: String?

  @Flag(help: "Talk to the server over TLS.")
  var tls = false

  @Option(
    help: ArgumentHelp(
      "Over TLS, trust the roots in this PEM file, not the system's.", valueName: "file"))
  var ca: String?

  @Option(
    help: ArgumentHelp(
      "A server by its name in the file of contexts. (default: TERN_CONTEXT)", valueName: "name"))
  var context: String?

  @Option(help: ArgumentHelp("How long to wait for the server: 10, 30s, 5m.", valueName: "time"))
  var timeout = TimeArgument(seconds: 10)

  func validate() throws {
    guard timeout.seconds > 0 else { throw ValidationError("--timeout must be at least 1") }
  }

  /// True if a flag or a variable names a server.
  var namesServer: Bool {
    server != nil || context != nil || ClientFlags.variable("TERN_SERVER") != nil
      || ClientFlags.variable(ServerContexts.variable) != nil
  }

  /// A client of the server that flags, variables and the context name.
  func client() throws(Failure) -> AdminClient {
    let place = try ServerContexts.chosen(context)
    let text = server ?? ClientFlags.variable("TERN_SERVER") ?? place?.server
    let list = try ServerAddressList(
      text.map(Self.withoutSchemes) ?? "127.0.0.1:\(ServerAddress.standardPort)",
      from: server == nil ? "TERN_SERVER" : "--server")
    let addresses = list.places
    var options = TCPOptions()
    options.addresses = addresses
    options.connectTimeoutSeconds = Int(clamping: min(timeout.seconds, 3_600))
    let isSecured =
      tls || ca != nil || place?.tls == true || list.isSecured
      || text.map(Self.entries(of:))?.contains { $0.lowercased().hasPrefix("https://") } == true
    if isSecured {
      var secured = TLSOptions()
      secured.roots = ca ?? place?.ca
      options.tls = secured
    }
    var client = AdminClient(
      options: options, token: try shownToken(place), timeout: timeout.duration)
    client.isLocal = addresses.allSatisfy { Serve.isLoopback($0.host) }
    return client
  }

  /// Addresses of HTTP are what these commands speak.
  private static func withoutSchemes(_ text: String) -> String {
    entries(of: text).map(withoutScheme).joined(separator: ",")
  }

  private static func entries(of text: String) -> [String] {
    text.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmed)
  }

  /// Returns the host and port of a URL, by default the scheme's own port.
  private static func withoutScheme(_ text: String) -> String {
    for (scheme, port) in [("http://", 80), ("https://", 443)]
    where text.lowercased().hasPrefix(scheme) {
      let place = String(text.dropFirst(scheme.count).prefix { $0 != "/" })
      // The colons of an IPv6 address stand in brackets.
      let isBare = !place.isEmpty && (place.hasSuffix("]") || !place.contains(":"))
      return isBare ? "\(place):\(port)" : place
    }
    return text
  }

  private func shownToken(_ place: ServerContexts.Place?) throws(Failure) -> String? {
    if token == nil, let text = ClientFlags.variable("TERN_TOKEN") {
      return text.trimmed
    }
    guard let file = token ?? place?.token else { return nil }
    let text = String(decoding: try fileBytes(at: file), as: UTF8.self).trimmed
    guard !text.isEmpty else { throw Failure(.usage, "\(file) is empty; it should hold a token") }
    return text
  }
}
