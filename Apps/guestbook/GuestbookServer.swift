import Foundation
import TernKit
import TernServerKit

/// The server of the guestbook, inside of this program: rules, tokens, and every protocol on one
/// port.
struct GuestbookServer {
  /// The running server.
  let server: AssembledServer
  private let issuer: TokenIssuer

  /// Opens the server.
  ///
  /// - Parameters:
  ///   - folder: The place of the data; `nil` keeps them in memory.
  ///   - port: The port on 127.0.0.1; 0 takes a free one.
  ///   - secret: The key that signs and checks tokens, 32 bytes or more.
  init(keepingIn folder: String?, port: Int, secret: [UInt8]) async throws {
    let keys = try await TokenKeys.reading(secret)
    issuer = try TokenIssuer(keys)
    let storage: ConfigurationValue =
      if let folder { ["kind": "sqlite", "path": .string(folder)] } else { ["kind": "memory"] }
    server = try await Assembler(catalog: .serving).server(
      from: Configuration(
        storage: storage,
        transport: ["kind": "tcp", "host": "127.0.0.1", "port": .integer(Int64(port))]),
      // The file is compiled into the program.
      authorizer: RulesAuthorizer(try TreeRules(PackageResources.guestbook_rules_json)),
      authenticator: TokenAuthenticator(keys))
  }

  /// Makes a token for a user, as a page for signing in would after it has checked a password.
  func token(for user: String) throws -> String {
    try issuer.sign(
      user: user, now: Int64(Date.now.timeIntervalSince1970), lifetimeSeconds: 12 * 3_600)
  }

  /// Opens a database over the server for a user, as any program on any machine would.
  func database(for user: String) async throws -> TernDatabase {
    var options = TernOptions()
    options.storage = .memory
    options.token = try token(for: user)
    return try await TernDatabase.open(server: server.address, options)
  }

  /// Draws a key.
  static func newSecret() -> [UInt8] {
    Array((0..<4).map { _ in UUID().uuidString }.joined().utf8)
  }

  /// Reads the key in a folder, which is made with a new one at the first start.
  static func secret(in folder: String) throws -> [UInt8] {
    let path = folder + "/token.key"
    if let kept = FileManager.default.contents(atPath: path) { return Array(kept) }
    let secret = newSecret()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    guard
      FileManager.default.createFile(
        atPath: path, contents: Data(secret), attributes: [.posixPermissions: 0o600])
    else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: path]) }
    return secret
  }
}
