#if TCP
  import NIOCore
  import NIOPosix
  import TernTransport

  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Android)
    import Android
  #endif

  /// A socket was connected to itself: no server listens at the address.
  ///
  /// It is reported as a refused connection, because that is the usual outcome without a server.
  package struct SelfConnection: Error {
    /// The error itself.
    package init() {}
  }

  /// The errors of the network library, in the terms of this contract.
  extension TransportError {
    /// Returns the error of a failed attempt to connect.
    ///
    /// - Parameters:
    ///   - options: The address that was tried, and its time limit, for the text.
    ///   - error: An error of the network library, of TLS or of this module.
    /// - Returns: `refused` and `timedOut` for the two outcomes that clients treat apart,
    ///   `notSecure` for a certificate that is not accepted, `shutDown` after the transport's
    ///   end, and `unreachable` with the system's words for the rest.
    static func connecting(
      to options: TCPOptions, failedWith error: any Error
    ) -> TransportError {
      let (host, port) = (options.host, options.port)
      switch error {
      case let error as NIOConnectionError:
        // A name may lead to several addresses. The library tries all; the error of the last
        // one tells most, and no error at all means that the look-up found none.
        guard let last = error.connectionErrors.last else {
          return .unreachable(host: host, port: port, reason: "its name was not found")
        }
        return connecting(to: options, failedWith: last.error)
      case let error as TransportError:
        return error
      case let error as TLSFailure:
        return .notSecure(host: host, port: port, reason: error.description)
      case let error as TooManyConnections:
        return .tooManyConnections(limit: error.limit)
      case is SelfConnection:
        return .refused(host: host, port: port)
      case let error as IOError where error.errnoCode == ECONNREFUSED:
        return .refused(host: host, port: port)
      case let error as IOError where error.errnoCode == ETIMEDOUT:
        return timedOut(options)
      case ChannelError.connectTimeout:
        return timedOut(options)
      case EventLoopError.shutdown:
        return .shutDown
      case let error as IOError:
        return .unreachable(host: host, port: port, reason: text(of: error))
      default:
        return .unreachable(host: host, port: port, reason: "\(error)")
      }
    }

    /// Returns the error of a listener that could not be opened.
    ///
    /// - Returns: `addressInUse` when another socket has the port, `shutDown` after the
    ///   transport's end, otherwise `cannotListen` with the system's words, such as a
    ///   privileged port or an address of another machine.
    static func listening(
      at options: TCPOptions, failedWith error: any Error
    ) -> TransportError {
      let (host, port) = (options.host, options.port)
      switch error {
      case let error as IOError where error.errnoCode == EADDRINUSE:
        return .addressInUse(host: host, port: port)
      case EventLoopError.shutdown:
        return .shutDown
      case let error as IOError:
        return .cannotListen(host: host, port: port, reason: text(of: error))
      default:
        return .cannotListen(host: host, port: port, reason: "\(error)")
      }
    }

    /// The system's words, without the name of the call that failed.
    private static func text(of error: IOError) -> String {
      unsafe strerror(error.errnoCode).map { unsafe String(cString: $0) }
        ?? "errno \(error.errnoCode)"
    }

    private static func timedOut(_ options: TCPOptions) -> TransportError {
      .timedOut(
        host: options.host, port: options.port,
        after: .seconds(options.connectTimeoutSeconds))
    }
  }
#endif
