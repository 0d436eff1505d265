import TernLedger
import TernSecurity
import TernStorage

/// The caches of a server that count their lookups.
enum CacheFigures {
  /// The lookups by cache: pages of the store, and credentials found genuine.
  static func all(
    of ledger: any Ledger, _ authenticator: any Authenticator
  ) -> [(name: String, hits: Int, misses: Int)] {
    var caches: [(name: String, hits: Int, misses: Int)] = []
    if let pages = (ledger as? any PageCacheCounting)?.pageCache {
      caches.append(("pages", pages.hits, pages.misses))
    }
    if let counting = authenticator as? any CredentialCacheCounting {
      let credentials = counting.credentialCache
      caches.append(("credentials", credentials.hits, credentials.misses))
    }
    return caches
  }
}
