import TernSecurity
import TernServerAssembly
import TernTokens

/// Signed tokens, checked with the keys in files: the section `auth` as `{"keys": ["key.pem"]}`.
enum TokenFilesPlugin: AuthenticatorPlugin {
  typealias Options = AuthOptions

  static let kind = "tokens"

  static func open(
    _ options: AuthOptions, with resources: AuthenticatorResources
  ) async throws(PluginError) -> (any Authenticator)? {
    let files = KeyFiles(options: options)
    let authenticator: TokenAuthenticator?
    do throws(Failure) { authenticator = try await files.authenticator() } catch {
      throw PluginError(reason: error.message)
    }
    guard let authenticator else { return nil }
    let watch = files.follow(into: authenticator)
    resources.whenClosed { watch.stop() }
    return authenticator
  }
}
