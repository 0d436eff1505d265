import TernCore

extension GatewayLimits {
  /// The most bytes of a request's body.
  func bodyBytes(of request: HTTPRequest) -> Int {
    if WebChannelRequest.serves(request.target) { return min(bodyBytes, webChannel.formBytes) }
    return DocumentRoute.serves(request.target)
      ? min(bodyBytes, DocumentRESTError.bodyBytes) : bodyBytes
  }
}

extension HTTPResponse {
  /// The same answer for a page of another origin, which may read why it was rejected.
  func readable(by request: HTTPRequest) -> HTTPResponse {
    var response = self
    CrossOrigin.allow(request, in: &response)
    return response
  }

  /// The answer to a program that asks if the server is up.
  static let alive = HTTPResponse(
    status: 200, headers: [("Content-Type", "text/plain; charset=utf-8")], body: Array("Ok\n".utf8))

  /// The answer to a body beyond the limit, as the asked service spells it.
  static func tooLarge(_ request: HTTPRequest, _ limits: GatewayLimits) -> HTTPResponse {
    let limit = limits.bodyBytes(of: request)
    if WebChannelRequest.serves(request.target) {
      return WebChannelError.tooLarge(limitBytes: limit).response
    }
    return DocumentRoute.serves(request.target)
      ? DocumentRESTError.tooLarge(limitBytes: limit).response(isStream: false)
      : RESTError.tooLarge(limitBytes: limit).response
  }

  /// The answer while the bodies of all connections hold as much as they may.
  static func tooMany(_ request: HTTPRequest) -> HTTPResponse {
    let text = "Too many requests are being read."
    if WebChannelRequest.serves(request.target) { return WebChannelError(503, text).response }
    return DocumentRoute.serves(request.target)
      ? DocumentRESTError(.unavailable, text).response(isStream: false)
      : RESTError(503, text).response
  }
}
