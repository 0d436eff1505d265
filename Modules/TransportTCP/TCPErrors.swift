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
  package struct SelfConnection: Error {
    /// The error itself.
    package init() {}
  }

  /// The errors of the network library, in the terms of this contract.
  extension TransportError {
    static func connecting(
      to options: TCPOptions, failedWith error: any Error
    ) -> TransportError {
      let (host, port) = (options.host, options.port)
      switch error {
      case let error as NIOConnectionError:
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
