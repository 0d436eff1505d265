#if TCP
  import NIOCore
  import TernCore
  import TernSecurity
  import TernServer

  /// Serves an operator's request over HTTP: checks the right, then answers.
  struct AdminEndpoint {
    private let handler: HTTPHandler
    private let context: ChannelHandlerContext

    init(_ handler: HTTPHandler, _ context: ChannelHandlerContext) {
      self.handler = handler
      self.context = context
    }

    private var setting: GatewayContext { handler.setting }

    /// Answers a request, if its client has the right.
    func serve(_ request: HTTPRequest) {
      guard request.method != "OPTIONS" else {
        // Pages of other origins are allowed nothing here.
        return answer(HTTPResponse(status: 204))
      }
      guard let target = RequestTarget(request.target) else {
        return answer(RESTError.invalid("The address is malformed.").response)
      }
      let caller = Caller(request, target, behind: setting.proxies)
      do throws(RESTError) {
        let asked = try AdminRequest(request.method, target)
        var requester = DirectRequest(
          namespace: Caller.defaultNamespace, isLocal: caller.isLocal, address: caller.address,
          .administer)
        // The operator decides which clients reach the admin listener under its own name.
        let isOperators = setting.admin.isListener(namedBy: request)
        switch asked.right {
        case .everyone: perform(asked, for: requester, caller, tellsDetails: isOperators)
        case .figures where isOperators: perform(asked, for: requester, caller)
        case .figures, .administrator:
          let credential = try Credential.shown(by: request, target, isLocal: caller.isLocal)
          let isOwner = setting.options.isDevelopment && caller.isLocal
          requester.credential =
            credential ?? (isOwner ? Credential(.service, token: "owner", isLocal: true) : nil)
          if isOwner { return perform(asked, for: requester, caller) }
          guard credential != nil else {
            throw RESTError(
              401,
              setting.admin.isListener && asked.right == .figures
                ? "Show a token, or ask by an address or by a name of admin.names."
                : "This is for administrators: show a token.")
          }
          check(asked, for: requester, caller)
        }
      } catch {
        answer(error.response)
      }
    }

    /// Performs a request for an administrator.
    private func check(
      _ asked: AdminRequest, for requester: DirectRequest, _ caller: Caller
    ) {
      let handler = NIOLoopBound(handler, eventLoop: context.eventLoop)
      let place = context.loopBound
      setting.ask(requester) { reply in
        guard handler.value.isAnswering else { return }
        let endpoint = AdminEndpoint(handler.value, place.value)
        if case .refused(let refusal) = reply {
          return endpoint.answer(RESTError(refusal).response)
        }
        endpoint.perform(asked, for: requester, caller)
      }
    }

    private func perform(
      _ asked: AdminRequest, for requester: DirectRequest, _ caller: Caller,
      tellsDetails: Bool = false
    ) {
      if case .deleteDatabase(let name, isDocuments: true) = asked {
        return erase(name, for: requester, caller) { conclude(asked, for: requester) }
      }
      conclude(asked, for: requester, tellsDetails: tellsDetails)
    }

    private func conclude(
      _ asked: AdminRequest, for requester: DirectRequest, tellsDetails: Bool = false
    ) {
      let handler = NIOLoopBound(handler, eventLoop: context.eventLoop)
      let place = context.loopBound
      let loop = context.eventLoop
      let number = handler.value.requestNumber
      let (admin, limits) = (setting.admin, setting.options.limits)
      Task {
        let response = await admin.response(
          to: asked, for: requester, limits: limits, tellsDetails: tellsDetails)
        loop.execute {
          guard handler.value.isAnswering, handler.value.requestNumber == number else { return }
          AdminEndpoint(handler.value, place.value).answer(response)
        }
      }
    }

    /// Removes the documents of a database, as the administrator who asks; its rules go last, so
    /// that they protect the documents as long as there are any.
    private func erase(
      _ database: String, for requester: DirectRequest, _ caller: Caller,
      then proceed: @escaping () -> Void
    ) {
      guard !setting.admin.isListener else {
        return answer(RESTError(404, "Databases are deleted on the server's own port.").response)
      }
      let parts = database.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count == 4, parts[0] == "projects", parts[2] == "databases",
        !parts.contains("")
      else { return answer(RESTError.invalid("A name is projects/P/databases/D.").response) }
      let endpoint = DocumentRESTEndpoint.of(handler, context)
      let eraser = DocumentEraser(
        database, path: [], in: endpoint.session(of: caller),
        authorization: "Bearer \(requester.credential?.token ?? "")"
      ) { [handler, context] status in
        guard let status else { return proceed() }
        AdminEndpoint(handler, context).answer(DocumentRESTError(status).response(isStream: false))
      }
      eraser.start()
    }

    private func answer(_ response: HTTPResponse) {
      var response = response
      response.isPrivate = true
      response.headers.append("Cache-Control", "no-store")
      response.headers.append("X-Content-Type-Options", "nosniff")
      handler.answer(response, context)
    }
  }
#endif
