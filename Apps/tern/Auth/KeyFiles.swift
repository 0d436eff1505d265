import Logging
import TernAssembly
import TernSecurity
import TernServerAssembly
import TernTokens

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The files that say which tokens count.
struct KeyFiles: Sendable {
  let options: AuthOptions

  /// The paths to watch.
  var paths: [String] { options.keys + [options.revocations].compactMap { $0 } }

  /// Returns the authenticator for tokens; `nil` without keys.
  func authenticator() async throws(Failure) -> TokenAuthenticator? {
    guard !options.keys.isEmpty else {
      guard options.revocations == nil else {
        throw Failure(.usage, "revocations are of no use without keys: give --auth-keys too")
      }
      return nil
    }
    let checks = TokenChecks(
      issuers: Swift.Set(options.issuers), audiences: Swift.Set(options.audiences),
      clockSkewSeconds: options.clockSkewSeconds)
    let authenticator = TokenAuthenticator(try await keys(), checks: checks)
    if let revocations = try revocations() { authenticator.use(revocations) }
    return authenticator
  }

  /// Brings what is written into the files in force while the server runs. What cannot be read
  /// changes nothing, and is told.
  func follow(into authenticator: TokenAuthenticator) -> FileWatch {
    FileWatch(paths) {
      do throws(Failure) { try await reload(authenticator) } catch {
        OperatorLog.tell("\(error.message); the keys before stay in force", .error)
      }
    }
  }

  private func reload(_ authenticator: TokenAuthenticator) async throws(Failure) {
    let keys = try await keys()
    let revocations = try revocations()
    authenticator.use(keys)
    if let revocations { authenticator.use(revocations) }
  }

  private func keys() async throws(Failure) -> TokenKeys {
    var all = TokenKeys()
    for path in options.keys {
      let more = try await Self.keys(at: path)
      do throws(TokenKeyError) { all = try all.adding(more) } catch {
        throw Failure(.usage, "\(path): \(error)")
      }
    }
    return all
  }

  /// The keys of one file.
  ///
  /// - Parameter warn: Called when every user of the machine can read a key that makes tokens.
  static func keys(
    at path: String, warn: (String) -> Void = { OperatorLog.tell($0, .warning) }
  ) async throws(Failure) -> TokenKeys {
    let bytes = try fileBytes(at: path)
    let keys: TokenKeys
    do throws(TokenKeyError) { keys = try await TokenKeys.reading(bytes) } catch {
      throw Failure(.usage, "\(path): \(error)")
    }
    if keys.canSign, let file = FileStatus(of: path), file.isRegular, file.mode & S_IROTH != 0 {
      warn(
        "\(path) holds a key that makes tokens, and every user of this machine can read it; "
          + "chmod 600 \(path)")
    }
    return keys
  }

  private func revocations() throws(Failure) -> Revocations? {
    guard let path = options.revocations else { return nil }
    return try Self.revocations(at: path)
  }

  /// The list in a file; empty when there is no file yet.
  static func revocations(at path: String) throws(Failure) -> Revocations {
    guard FileManager.default.fileExists(atPath: path) else { return Revocations() }
    let bytes = try fileBytes(at: path)
    do throws(TokenKeyError) { return try Revocations(reading: bytes) } catch {
      throw Failure(.usage, "\(path): \(error)")
    }
  }
}
