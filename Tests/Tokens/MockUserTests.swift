import TernCore
import TernSecurity
import Testing

@testable import TernTokens

@Suite("mock users") struct MockUserTests {
  private func shown(
    _ payload: String, header: String = #"{"alg":"none","type":"JWT"}"#, signature: String = "",
    isLocal: Bool = true, override: JSONValue? = nil
  ) -> Credential {
    let parts = [header, payload].map { Base64URL.encode(Array($0.utf8)) }
    return Credential(
      .user, token: parts.joined(separator: ".") + "." + signature, override: override,
      isLocal: isLocal)
  }

  private func judge(_ credential: Credential) -> Authentication? {
    try? MockUserAuthenticator().authenticate(credential, now: TokenBench.now)
  }

  @Test("what a stock client makes up is taken, signed or not, and however long ago it ended")
  func madeUp() throws {
    let payload = #"""
      {"iss":"https://securetoken.google.com/demo","aud":"demo","iat":0,"exp":3600,"auth_time":0,
       "sub":"ann","user_id":"ann","firebase":{"sign_in_provider":"custom","identities":{}},"role":"x"}
      """#
    let accepted = try #require(judge(shown(payload)))
    guard case .user("ann", let seen) = accepted.identity else {
      Issue.record("\(accepted.identity)")
      return
    }
    #expect(seen["role"] == .string("x"))
    #expect(MockUserAuthenticator().revalidate(accepted, now: TokenBench.now) == nil)
    #expect(judge(shown(payload, header: #"{"alg":"RS256"}"#, signature: "AAAA")) != nil)
    // In the other alphabet of base64, and padded.
    let padded = "eyJhbGciOiJub25lIn0=.eyJzdWIiOiJ+fn4/Pz8/In0=."
    let odd = try #require(judge(Credential(.user, token: padded, isLocal: true)))
    let claims = JSONValue.object([.init("sub", .string("~~~????"))])
    #expect(odd.identity == .user(id: "~~~????", claims: claims))
  }

  @Test("it counts on this machine alone, acts for no other user, and is no administrator")
  func refused() {
    #expect(judge(shown(#"{"sub":"ann"}"#)) != nil)
    #expect(judge(shown(#"{"sub":"ann"}"#, isLocal: false)) == nil)
    #expect(judge(shown(#"{"sub":"ann"}"#, override: .null)) == nil)
    #expect(judge(shown(#"{"sub":"ann","tern":"administrator"}"#)) == nil)
    #expect(judge(shown(#"{"iat":0}"#)) == nil, "of nobody")
    for token in ["", "a.b", "a.b.c", "....", "e30.W10.", "owner"] {
      #expect(judge(Credential(.user, token: token, isLocal: true)) == nil, "\(token)")
    }
    let long = #"{"sub":""# + String(repeating: "a", count: SignedToken.most) + #""}"#
    #expect(judge(shown(long)) == nil)
  }
}
