// One import for a program that runs a server: everything that opening one takes, gives and throws.

@_exported public import TernAssembly
@_exported public import TernGateway
@_exported public import TernSecurity
@_exported public import TernServer
@_exported public import TernServerAssembly
@_exported public import TernStandard
@_exported public import TernTokens
