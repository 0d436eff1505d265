/// The console: a page for browsers, which speaks the same protocols as every other client.
///
/// Its files tell nothing about the server. What they show is asked for with the token of an
/// administrator, or on a server for development as a client of this machine.
enum ConsolePage {
  /// The path of the page; its files lie below.
  static let path = "/-/console"

  /// Returns true for the page and its files.
  static func serves(_ path: String) -> Bool {
    path == Self.path || path.hasPrefix(Self.path + "/")
  }

  /// Answers a request for the page or one of its files.
  ///
  /// - Throws: 403 on a development server under another name than this machine's, 404 for an
  ///   unknown file or a server without a console, 405 for other methods.
  static func response(
    to request: HTTPRequest, at path: String, _ options: GatewayOptions
  ) throws(RESTError) -> HTTPResponse {
    guard options.servesConsole else { throw RESTError(404, "This server has no console.") }
    guard request.method == "GET" || request.method == "HEAD" else {
      throw .notAllowed("This can only be read.", allowing: "GET, HEAD")
    }
    // A name of another site that leads here must not show a page of a server for development.
    if options.isDevelopment, !HostName(request.headers["host"] ?? "").isThisMachine {
      throw RESTError(403, "The console of a server for development is for this machine.")
    }
    let name = path.dropFirst(Self.path.count + 1)
    guard let text = ConsoleFiles.all[name.isEmpty ? index : String(name)] else {
      throw RESTError(404, "The console has no such file.")
    }
    return HTTPResponse(
      status: 200, headers: headers(type(of: name.isEmpty ? index : String(name))),
      body: Array(text.utf8))
  }

  private static let index = "index.html"

  private static func type(of name: String) -> String {
    let types = [
      ".html": "text/html", ".js": "text/javascript", ".css": "text/css",
      ".svg": "image/svg+xml",
    ]
    let type = types.first { name.hasSuffix($0.key) }?.value ?? "text/plain"
    return type + "; charset=utf-8"
  }

  /// The policy of the page: nothing is fetched from elsewhere, no script stands in the page, no
  /// other page frames it, and no text becomes markup.
  static let policy = """
    default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'
    """

  /// Returns the fields of every file. Nothing is kept: the files change with the program.
  private static func headers(_ type: String) -> HTTPFields {
    [
      ("Content-Type", type), ("Cache-Control", "no-store"),
      ("Content-Security-Policy", policy), ("X-Content-Type-Options", "nosniff"),
      ("X-Frame-Options", "DENY"), ("Referrer-Policy", "same-origin"),
      ("Cross-Origin-Opener-Policy", "same-origin"),
      ("Cross-Origin-Resource-Policy", "same-origin"),
      ("Permissions-Policy", "camera=(), microphone=(), geolocation=()"),
    ]
  }
}
