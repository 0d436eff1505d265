import Foundation
import TernAssembly
import TernClient
import TernCore
import TernTransportTCP

/// An address of a tree database or of a location in one, such as
/// `https://db.example.com/rooms?ns=chat`.
struct DatabaseAddress: Hashable, Sendable {
  let isEncrypted: Bool
  /// In lower case; brackets of an IPv6 address are left out.
  let host: String
  let port: Int
  /// The database: of the parameter `ns`, or the first label of a name with more labels than a host
  /// needs; `nil` when neither names one.
  let namespace: String?
  /// The location below the root, without percent-encoding.
  let path: String

  /// Reads an address; `nil` for any other text.
  init?(_ text: String) {
    guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
      ["http", "https", "ws", "wss"].contains(scheme), let host = parts.host?.lowercased(),
      !host.isEmpty
    else { return nil }
    isEncrypted = scheme == "https" || scheme == "wss"
    self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    port = parts.port ?? (isEncrypted ? 443 : 80)
    path = parts.path.split(separator: "/").joined(separator: "/")
    let named = parts.queryItems?.first { $0.name == "ns" }?.value
    namespace = named.flatMap { $0.isEmpty ? nil : $0 } ?? Self.namespace(in: self.host)
  }

  /// True when the host is one of Google's, which has no server of this kind.
  var isGoogles: Bool {
    [".firebaseio.com", ".firebasedatabase.app"].contains { host.hasSuffix($0) }
  }

  /// The first label of `db.example.com` and of `db.localhost`, as servers read it.
  private static func namespace(in host: String) -> String? {
    let labels = host.split(separator: ".")
    let needed = labels.last == "localhost" ? 1 : 2
    let isNumeric = host.utf8.allSatisfy { "0123456789.:".utf8.contains($0) } || host.contains(":")
    guard !isNumeric, labels.count > needed else { return nil }
    return String(labels[0])
  }
}

/// The server of an app, and the places where clients of it keep their data.
struct ServerChoice: Hashable, Sendable {
  var configuration: Configuration
  /// The tree database.
  var namespace = ClientOptions.defaultNamespace

  /// The address that locations begin with: of several addresses of the server, the first one.
  var address: String {
    let members = configuration.transport.members
    let scheme = members["tls"] == nil ? "http" : "https"
    let text = members["host"]?.stringValue ?? "localhost"
    // No server is reached at port 0: it stands for an address that names none.
    let first = (try? TCPAddress.list(text, defaultPort: 0))?.first
    let host = first?.host ?? text
    let name = host.contains(":") ? "[\(host)]" : host
    let own = first.flatMap { $0.port > 0 ? "\($0.port)" : nil }
    let port = own ?? members["port"]?.canonicalText
    return "\(scheme)://\(name)" + (port.map { ":\($0)" } ?? "")
  }

  /// The choice that an address means, where this one is the app's.
  ///
  /// - Parameter isOther: Whether data of another server than the app's are kept apart.
  func reaching(_ target: DatabaseAddress, isOther: Bool) -> ServerChoice {
    var choice = self
    choice.namespace = target.namespace ?? ClientOptions.defaultNamespace
    if target.isGoogles || isSameServer(target) { return choice }
    var transport: [String: ConfigurationValue] = [
      "kind": "tcp", "host": .string(target.host), "port": .integer(Int64(target.port)),
    ]
    // The configuration says which certificates are trusted, also for another host.
    if target.isEncrypted { transport["tls"] = configuration.transport.members["tls"] ?? [:] }
    choice.configuration.transport = .object(transport)
    if isOther {
      var members = configuration.storage.members
      let path = members["path"]?.stringValue ?? "tern-data"
      let name = target.host.replacing(":", with: "-")
      members["path"] = .string("\(path)/servers/\(name)_\(target.port)")
      choice.configuration.storage = .object(members)
    }
    return choice
  }

  private func isSameServer(_ target: DatabaseAddress) -> Bool {
    guard let own = DatabaseAddress(address) else { return false }
    return own.host == target.host && own.port == target.port
      && own.isEncrypted == target.isEncrypted
  }
}
