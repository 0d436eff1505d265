#if TCP
  import NIOCore
  import TernCore
  import TernSecurity
  import TernServer

  extension DocumentRESTEndpoint {
    /// Serves what an emulator offers beside the services, on a development server.
    ///
    /// On a server that is not for development every request is 404, as if the paths did not
    /// exist. Clients of other machines get `PERMISSION_DENIED`: these requests carry no
    /// credential.
    func serveEmulator(_ request: HTTPRequest, _ target: RequestTarget, _ caller: Caller) {
      guard handler.setting.options.isDevelopment,
        let asked = EmulatorRequest(request.method, target.path)
      else { return handler.answer(DocumentRESTError.notFound, context) }
      guard caller.isLocal else {
        let error = DocumentRESTError(
          .permissionDenied, "This is served to programs and pages of this machine only.")
        return handler.answer(error.response(isStream: false), context)
      }
      switch asked {
      case .services:
        let address = context.channel.localAddress
        let services = EmulatorRequest.services(
          host: address?.ipAddress ?? "127.0.0.1", port: address?.port ?? 0)
        handler.answer(.json(services), context)
      case .triggers(let isEnabled):
        handler.answer(.json(.object([.init("enabled", .bool(isEnabled))])), context)
      case .clear(let database, let path): clear(database, path, caller)
      case .rules(let project): setRules(project, request.body, caller)
      case .ruleCoverage(let project, let isPage): readCoverage(project, isPage, caller)
      }
    }

    /// Reads the coverage of rules, with the rights of the owner.
    private func readCoverage(_ project: String, _ isPage: Bool, _ caller: Caller) {
      let request = DirectRequest(
        namespace: "projects/\(project)", isLocal: caller.isLocal, address: caller.address,
        credential: Credential(.service, token: "owner", isLocal: caller.isLocal),
        .readRuleCoverage)
      handler.ask(request, context) { HTTPResponse(coverage: $0, isPage: isPage) }
    }

    /// Replaces the rules of a project's documents, with the rights of the owner.
    private func setRules(_ project: String, _ body: [UInt8], _ caller: Caller) {
      do throws(DocumentRESTError) {
        let rules = try EmulatorRules(project: project, body: body)
        handler.ask(rules.request(of: caller), context) { rules.response(to: $0) }
      } catch {
        handler.answer(error.response(isStream: false), context)
      }
    }

    /// Removes documents; the answer comes when all are gone.
    private func clear(_ database: String, _ path: [String], _ caller: Caller) {
      let eraser = DocumentEraser(database, path: path, in: session(of: caller)) {
        [handler, context] status in
        let failure = status.map { DocumentRESTError($0).response(isStream: false) }
        handler.answer(failure ?? .json(.object([])), context)
      }
      eraser.start()
    }
  }

  extension HTTPResponse {
    /// The answer about the results of rules' expressions; empty where nothing is counted.
    fileprivate init(coverage answer: DirectAnswer, isPage: Bool) {
      switch answer {
      case .coverage(let report?):
        self =
          isPage
          ? HTTPResponse(
            status: 200, headers: [("Content-Type", "text/html; charset=utf-8")],
            body: Array(report.page.utf8))
          : .json(report.json)
      case .coverage:
        self = .json(
          .object([
            .init("rules", .object([.init("files", .array([]))])), .init("report", .array([])),
          ]))
      case .refused(let refusal):
        self = DocumentRESTError(.unavailable, RESTError(refusal).text).response(isStream: false)
      default:
        self = DocumentRESTError(.internalError, "The server answered something else.")
          .response(isStream: false)
      }
    }
  }
#endif
