import ArgumentParser
import TernCore
import TernSecurity
import TernTokens

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `tern auth inspect`: what a token says.
struct AuthInspect: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect", abstract: "Print what a token says, without believing it.",
    discussion: "Nothing is checked: any program can write such a token. See: tern auth verify.")

  @Argument(help: "The token; - reads standard input.") var token: String = "-"
  @OptionGroup var output: JSONFlag

  func run() throws {
    let text = try shown(token)
    let token: UnverifiedToken
    do { token = try UnverifiedToken(text) } catch {
      throw Failure(.usage, "this is no token: \(error)")
    }
    let header: [JSONValue.Member] =
      [.init("alg", .string(token.algorithm.rawValue))]
      + (token.keyName.map { [.init("kid", .string($0))] } ?? [])
    let all = JSONValue.object([.init("header", .object(header)), .init("claims", token.claims)])
    printLine(output.json ? all.json : indented(json: all.json))
  }
}

/// `tern auth verify`: whether a server would take a token.
struct AuthVerify: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check a token as a server with these keys does.",
    discussion: "Exits with 4, and says why, when the token is not taken.")

  @OptionGroup var tokens: TokenFlags
  @Argument(help: "The token; - reads standard input.") var token: String = "-"
  @OptionGroup var output: JSONFlag

  func validate() throws {
    if tokens.authKeys.isEmpty {
      throw ValidationError("--auth-keys is missing: a token has a key")
    }
  }

  func run() async throws {
    var keys = TokenKeys()
    for path in tokens.authKeys {
      do { keys = try keys.adding(try await KeyFiles.keys(at: path) { _ in }) } catch let error
        as TokenKeyError
      {
        throw Failure(.usage, "\(path): \(error)")
      }
    }
    let checks = TokenChecks(
      issuers: Swift.Set(tokens.authIssuer), audiences: Swift.Set(tokens.authAudience))
    let authenticator = TokenAuthenticator(keys, checks: checks)
    if let list = tokens.authRevocations { authenticator.use(try KeyFiles.revocations(at: list)) }
    let accepted: Authentication
    let text = try shown(token)
    do throws(AuthenticationError) {
      accepted = try authenticator.authenticate(
        Credential(.user, token: text),
        now: Int64(Date.now.timeIntervalSince1970 * 1_000))
    } catch {
      switch error {
      case .invalid(let reason), .expired(let reason): throw Failure(.refused, reason)
      }
    }
    let user: JSONValue =
      if case .user(let id, _) = accepted.identity { .string(id) } else { .null }
    let ends = accepted.expires
    output.print(
      "taken: " + (user.text.map { "user \($0)" } ?? "an administrator")
        + (ends.map { ", until \(Date(timeIntervalSince1970: TimeInterval($0)).ISO8601Format())" }
          ?? ""),
      [
        "user": user, "administrator": .bool(accepted.identity == .administrator),
        "expires": ends.map { .integer($0) } ?? .null,
      ])
  }
}

/// The token of an argument or of standard input.
private func shown(_ argument: String) throws(Failure) -> String {
  try standardInput(or: argument).trimmed
}
