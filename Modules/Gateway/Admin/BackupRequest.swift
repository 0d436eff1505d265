import TernLedger
import TernSecurity
import TernServer

/// An administrator's request for everything that the server stores.
///
/// Source: Docs/Formats/backup.md, section 6.
struct BackupRequest: Sendable {
  private static let path = "/-/backup"

  /// Returns true for the target of such requests.
  static func serves(_ target: String) -> Bool { target.prefix { $0 != "?" } == path }

  /// The backup that the answer is to be an increment of.
  let base: BackupIndex?
  let asked: DirectRequest

  /// Understands a request: `GET` for a whole backup; `POST`, with the index of another one, for an
  /// increment.
  ///
  /// The requester must be an administrator, which the server judges. On a development server a
  /// local request without a credential counts as its owner's.
  ///
  /// - Throws: 400 for a body that is no index, 403 for a page of another origin, 405 for
  ///   another method.
  init(
    _ request: HTTPRequest, _ target: RequestTarget, _ caller: Caller, _ options: GatewayOptions
  ) throws(RESTError) {
    switch request.method {
    case "GET": base = nil
    case "POST":
      guard let index = BackupIndex(request.body) else {
        throw .invalid("The body is no index of a backup.")
      }
      base = index
    default:
      throw .notAllowed(
        "A backup is read with GET, an increment with POST.", allowing: "GET, POST")
    }
    // A page of another origin must not have its reader's browser fetch everything.
    guard caller.isLocal || request.headers["origin"] == nil else {
      throw RESTError(403, "No page may ask for that.")
    }
    var credential = try Credential.shown(by: request, target, isLocal: caller.isLocal)
    if credential == nil, options.isDevelopment, caller.isLocal {
      credential = Credential(.service, token: "owner")
      credential?.isLocal = true
    }
    asked = DirectRequest(
      namespace: caller.namespace, isLocal: caller.isLocal, address: caller.address,
      credential: credential, .administer)
  }
}

#if TCP
  import NIOCore

  extension BackupRequest {
    /// Answers a request for a backup.
    static func serve(
      _ request: HTTPRequest, _ caller: Caller, _ target: RequestTarget, _ handler: HTTPHandler,
      _ context: ChannelHandlerContext
    ) {
      let understood: BackupRequest
      do throws(RESTError) {
        understood = try BackupRequest(request, target, caller, handler.setting.options)
      } catch {
        return handler.answer(error.response, context)
      }
      understood.serve(handler, context)
    }

    /// Answers with a backup, piece by piece, if its reader may have one.
    private func serve(_ handler: HTTPHandler, _ context: ChannelHandlerContext) {
      let handler = NIOLoopBound(handler, eventLoop: context.eventLoop)
      let place = context.loopBound
      handler.value.setting.ask(asked) { answer in
        guard handler.value.isAnswering else { return }
        if case .refused(let refusal) = answer {
          return handler.value.answer(RESTError(refusal).response, place.value)
        }
        send(handler.value, place.value)
      }
    }

    /// Begins the answer and the pump that feeds it.
    ///
    /// The answer has no length; a backup that breaks off lacks the last chunk, and
    /// `Tern-Version` names the commit that it shows.
    private func send(_ handler: HTTPHandler, _ context: ChannelHandlerContext) {
      let taker = ExportPump.Taker(
        send: { bytes, sent in
          handler.stream(ByteBuffer(bytes: bytes), context)
          handler.flushStream(sent, context)
        },
        finish: {
          handler.exporting = nil
          handler.completeStream(context)
        },
        // The client sees that it was cut off: the end of the chunks is missing.
        abort: { _ in context.close(promise: nil) })
      let pump = ExportPump(taker, on: context.eventLoop)
      let setting = handler.setting
      let version = pump.start { setting.backUp(base, asked, handler.address, $0) }
      guard let version else {
        return handler.answer(HTTPHandler.tooManyExports.response, context)
      }
      handler.exporting = pump
      handler.beginStream(
        HTTPResponse(
          status: 200,
          headers: [
            ("Cache-Control", "no-store"), ("Content-Type", "application/octet-stream"),
            ("Tern-Version", "\(version)"),
          ]), context)
    }
  }
#endif
