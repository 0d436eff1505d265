#if TCP
  import NIOCore
  import TernServer

  /// Counts one request over HTTP, and tells the access log of it once its answer is known.
  struct RequestRecord {
    /// The arrival of its head.
    private let arrival = NIODeadline.now()

    /// Ends with an answer whose head is known.
    func end(
      _ request: HTTPRequest?, _ response: HTTPResponse, at address: String,
      _ setting: GatewayContext
    ) {
      let time = (NIODeadline.now() - arrival).nanoseconds / 1_000
      setting.load.count(status: response.status, microseconds: time)
      guard let log = setting.admin.accessLog() else { return }
      // Nothing behind the path is told: it may hold a credential.
      let path = request?.target.prefix { $0 != "?" } ?? "-"
      log(
        AccessRecord(
          method: request?.method ?? "-", path: String(path), status: response.status,
          bytes: response.body.count, microseconds: time, address: address,
          denial: response.headers[RESTError.denialField]))
    }

    /// The other end of a channel, in the form of links.
    ///
    /// - Parameter proxied: The client that a trusted proxy names.
    static func peer(_ proxied: (address: String, port: Int)?, _ channel: any Channel) -> String {
      if let proxied { return "\(proxied.address):\(proxied.port)" }
      guard let address = channel.remoteAddress, let ip = address.ipAddress else {
        return "unknown"
      }
      return "\(ip):\(address.port ?? 0)"
    }
  }
#endif
