// One import for an application: everything that the public calls take, give and throw, with the
// values of Foundation that they code, and with `localizedDescription`.

@_exported public import Foundation
@_exported public import TernClient
@_exported public import TernCore
@_exported public import TernQuery
@_exported public import TernStorage
@_exported public import TernSync
@_exported public import TernTransactions
@_exported public import TernTransport
@_exported public import TernTransportTCP
