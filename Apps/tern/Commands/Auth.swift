import ArgumentParser
import TernCore
import TernSecurity
import TernTokens

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `tern auth`: tokens, without a server.
struct Auth: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make tokens, look into them, check them, and revoke them.",
    subcommands: [
      AuthSign.self, AuthInspect.self, AuthVerify.self, AuthRevoke.self, AuthList.self,
    ],
    aliases: ["tokens"])
}

/// `tern auth sign`: a token to try things with.
struct AuthSign: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign", abstract: "Make a token and print it.",
    discussion: """
      The key file holds a secret of at least 32 bytes (openssl rand -hex 32), or a private key in \
      PEM. A server that was started with --auth-keys and the same secret, or the public key, takes \
      the token; its rules see the user as auth.uid, and the claims in auth.token.
      """)

  @Option(help: ArgumentHelp("A secret, or a private key in PEM.", valueName: "file"))
  var key: String

  @Argument(help: "The id of the user.")
  var uid: String?

  @Option(help: ArgumentHelp("What else the token says: a JSON object.", valueName: "json"))
  var claims: String?

  @Option(help: ArgumentHelp("How long it counts: 3600, 12h, 30d.", valueName: "time"))
  var expires = TimeArgument(seconds: 3_600)

  @Option(help: ArgumentHelp("Who issues it.", valueName: "name"))
  var issuer: String?

  @Option(help: ArgumentHelp("Whom it is meant for.", valueName: "name"))
  var audience: String?

  @Flag(help: "For an administrator, whom rules do not bind, instead of a user.")
  var administrator = false

  @OptionGroup var output: JSONFlag

  func validate() throws {
    if (uid == nil) != administrator {
      throw ValidationError("Give the id of a user, or --administrator.")
    }
  }

  func run() async throws {
    let keys = try await KeyFiles.keys(at: key) { printError("tern: \($0)") }
    var members = try claims.map(Self.members) ?? []
    try check(members)
    if administrator { members.append(.init("tern", .string("administrator"))) }
    do throws(TokenKeyError) {
      let token = try TokenIssuer(keys).sign(
        user: uid ?? "administrator", now: Int64(Date.now.timeIntervalSince1970),
        lifetimeSeconds: expires.seconds, issuer: issuer, audience: audience, claims: members)
      output.print(token, ["token": .string(token)])
    } catch {
      throw Failure(.usage, "\(key): \(error)")
    }
  }

  /// A token that no server takes is better not made.
  private func check(_ members: [JSONValue.Member]) throws(Failure) {
    if let uid, !(1...128).contains(uid.utf8.count) {
      throw Failure(.usage, "the id of a user has 1 to 128 bytes, not \(uid.utf8.count)")
    }
    guard expires.seconds > 0 else { throw Failure(.usage, "--expires must be at least 1") }
    var names: Swift.Set = ["sub", "iat", "exp"]
    if issuer != nil { names.insert("iss") }
    if audience != nil { names.insert("aud") }
    if administrator { names.insert("tern") }
    for member in members where !names.insert(member.name).inserted {
      throw Failure(
        .usage, "--claims: \"\(member.name)\" comes twice, or has an argument of its own")
    }
  }

  private static func members(_ text: String) throws -> [JSONValue.Member] {
    guard case .object(let members) = try json(Array(text.utf8), "--claims") else {
      throw Failure(.usage, "--claims must be a JSON object")
    }
    return members
  }
}

/// `tern auth revoke`: ends the tokens of a user.
struct AuthRevoke: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke", abstract: "Revoke all tokens of a user that were issued before now.",
    discussion: """
      With --list the command writes that file, and nothing else. A server that was started with it as \
      --auth-revocations reads it again within seconds, and disconnects whom it names; any other \
      server hears nothing of it.

      Without --list a running server is told, with the token of an administrator (tern auth sign \
      --administrator); it remembers, whatever a list says.
      """)

  @Argument(help: "The id of the user; \"*\" for every user.")
  var uid: String

  @Option(help: ArgumentHelp("A list of revocations, in the place of a server.", valueName: "file"))
  var list: String?

  @Option(help: ArgumentHelp("Another moment than now, since 1970.", valueName: "seconds"))
  var before: Int64?

  @OptionGroup(title: "A running server") var admin: AdminFlags
  @OptionGroup var output: JSONFlag

  func run() async throws {
    if let list { try write(list) } else { try await tellServer() }
    output.print("revoked: \(uid)", ["revoked": .string(uid)])
  }

  private func tellServer() async throws {
    let moment = before.map { JSONValue.integer($0) } ?? .string("now")
    let body = JSONValue.object([.init(uid, moment)]).bytes
    _ = try await admin.client().ask(.patch, "/.settings/revocations.json", body: body)
  }

  private func write(_ list: String) throws {
    var revocations = try KeyFiles.revocations(at: list)
    // A token made in this very second is one of those that are meant.
    let now = Int64(Date.now.timeIntervalSince1970) + 1
    revocations.revoke(uid, before: before ?? now)
    do {
      try Data(revocations.bytes).write(to: URL(filePath: list), options: .atomic)
    } catch {
      throw Failure(.failed, "\(list) cannot be written")
    }
  }
}

/// `tern auth list`: the revocations that a server was told.
struct AuthList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Print whose tokens a running server has been told to revoke.",
    discussion: """
      A server keeps no list of tokens: it checks the signature of each. What it keeps are \
      revocations: the user, and the second since 1970 before which tokens were issued that do not \
      count. Those of --auth-revocations are in that file.
      """)

  @OptionGroup var admin: AdminFlags
  @OptionGroup var output: JSONFlag

  func run() async throws {
    let found = try await admin.client().object("/.settings/revocations.json")
    guard case .object(let users) = found else { return }
    for user in users {
      let moment = user.value.integer ?? 0
      output.print(
        "\(user.name) before \(moment)",
        ["user": .string(user.name), "before": .integer(moment)])
    }
  }
}
