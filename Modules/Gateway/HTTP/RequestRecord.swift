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

    /// Ends with a call of gRPC that is over.
    ///
    /// - Parameters:
    ///   - status: The status of HTTP; 0 when the client went before the answer began.
    ///   - grpcStatus: The status of gRPC; `nil` for none.
    ///   - bytes: The bytes of the messages that were sent.
    func end(
      callAt path: String, status: Int, grpcStatus: Int?, bytes: Int, at address: String,
      _ setting: GatewayContext
    ) {
      guard let log = setting.admin.accessLog() else { return }
      let time = (NIODeadline.now() - arrival).nanoseconds / 1_000
      log(
        AccessRecord(
          method: "POST", path: String(path.prefix { $0 != "?" }), status: status, bytes: bytes,
          microseconds: time, address: address, grpcStatus: grpcStatus))
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
