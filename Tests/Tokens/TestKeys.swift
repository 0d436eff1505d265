/// Keys that nothing but these tests uses.
enum TestKeys {
  static let secret = Array("0123456789abcdef0123456789abcdef".utf8)
  static let otherSecret = Array("fedcba9876543210fedcba9876543210".utf8)

  static let rsaPrivate = """
    -----BEGIN PRIVATE KEY-----
    MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCWsqRm94K4cQGX
    wyKeB7qMrD5QPmWagR5pQBDdWRp/gVYKhUdrSE9a0NFq3yQYp+HMTifch/1x0vid
    ceqmL0HpOOPPs4g16JCby0jJ2UgBJMi8FBe7uoBRGegfKgwClZ9h/s2kPMVQK6Hl
    3fK0tUdlSy8HDu6pSNTs4fmA6bKwwho4EuIWM1ZaAk5X6GSl818er/fLGunpVdtK
    /GAu+Q4CX0v5TZOBjshlmFNQM2YvddDWT3yWZPL2p4atWE0m/5vq/4gzbKKVGWg5
    2Ho1gm3QLvSp5kIXNRLiQ4pl1X2ZO5pbH/JQgp8Wfhui/lq4MnAK51wp1LRzBCfe
    pD+HdVDnAgMBAAECggEAOsZM4Y3qUXZduSuVvk3kX8Yz/YcAiKyQSFuA2FvOvmka
    vjqyGrEWpiRocQa7pNQheFYJLPVrD3BJn9qUuqEW01fpXhI271OXxvOXnYYdk7id
    g+FQSlsYfckdY7459e4WPhmracF78WM7HxSb+wfy4xpaKqYTxjmONh+CeNls5IwO
    dEtKAImd1nx1GukkI4F+S/UhC683n1w1MgwTnn0Nuu51IAXYqBrUBecznBIzP9D3
    RpYlscZdt8txCLjRYIX5XhEBINDiaBg1Jd8t05FvUmT8uKNTIXUPlaud3i9ODmJe
    usbWejsHNjNypLETCefV2ISHEatCOsMePCuiNWhy7QKBgQDK0xK4GcOPD0AAN74P
    PZyqGmXMppyU4q8zJ4+PWEfzIYL+88OvcGmH/apZ3ADBGEhS6l1inU0C9ssLn4ru
    AXVaSod0eS3O4XvuPmREquwcKvO9Jki6eq4SLMdF0kiumc8ytP66qSNlWirO2Wck
    NHhUoz64s9ZjEDqLKh5iSMDe7QKBgQC+NP5/nCRRe/ZDsiSk9C7jO8qFg4wqWCdI
    4kRNNbtS1bizS20/+Wn/EqaYGyCWvPyD8L+3RYF8RO+tUJjGRwDQvLvjxnvy9H59
    wyTPRWXXGRodV61WIJRF1+GosBUTkRBcmbW9MGxi7AHiyZqALvUbBpryT4QKTlZn
    hnVI7PjgowKBgH8XaAFoU3wPSEFarIOMTeDhDa0BMdixeqsJPRHLdbpJ43WydYo3
    XElUkCwiiW51sswSA1ZJzvnufyjXXgzpaQmc7ef0Dto1vJx7CAVnPPAhkf2SQbxo
    Jy9IU83SiKyvwH+7nmqElaNqrqxS2ih7oHMYn7LJLauBfc26JLPdds25AoGAMoOm
    d0ODjbRrQa1E+B31edm+PlkiV3iT7lJRK2QyvJwP8mX8vLnDgb91SP4jWIUWVwAQ
    Gl82NUelk5TNDhN7TvRgvexPrMVr9oBl/ToEAu0it1o6qZ37YtUjlAY3grvK6ZzU
    3ErI7jiZg55hDtvpsmS9r86YVZhacCIQce6lZhsCgYEAt4h6lmBjRHPmqDm0VPeg
    ZDhOkTaodk0UUrCIvHLtf25AkElbEib6LncGGmk/1FdQIiSXt6c0vnS9xYy4pfBv
    6APQ48sJTH+HVxsU5gjdDXZVS2pbIvhftgacjjRuvmKeH6qvMu9JFDFnlZnYn5nf
    /sPDEGebi26maepBICs+XMA=
    -----END PRIVATE KEY-----

    """

  static let rsaPublic = """
    -----BEGIN PUBLIC KEY-----
    MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAlrKkZveCuHEBl8Minge6
    jKw+UD5lmoEeaUAQ3Vkaf4FWCoVHa0hPWtDRat8kGKfhzE4n3If9cdL4nXHqpi9B
    6Tjjz7OINeiQm8tIydlIASTIvBQXu7qAURnoHyoMApWfYf7NpDzFUCuh5d3ytLVH
    ZUsvBw7uqUjU7OH5gOmysMIaOBLiFjNWWgJOV+hkpfNfHq/3yxrp6VXbSvxgLvkO
    Al9L+U2TgY7IZZhTUDNmL3XQ1k98lmTy9qeGrVhNJv+b6v+IM2yilRloOdh6NYJt
    0C70qeZCFzUS4kOKZdV9mTuaWx/yUIKfFn4bov5auDJwCudcKdS0cwQn3qQ/h3VQ
    5wIDAQAB
    -----END PUBLIC KEY-----

    """

  static let p256Private = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgyNI6X+qH8zFjaAWd
    k0JKfxbvm+1z6pPvx0Af88BfmdWhRANCAAT+7C+b5b5HlqGVvJf/DZafAhpV6dox
    Xhhz6T5LdsxibWg0XwMpnMnGRp75i17txlYiV+BSScGAgf0od2hFkQCy
    -----END PRIVATE KEY-----

    """

  static let p256Public = """
    -----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE/uwvm+W+R5ahlbyX/w2WnwIaVena
    MV4Yc+k+S3bMYm1oNF8DKZzJxkae+Yte7cZWIlfgUknBgIH9KHdoRZEAsg==
    -----END PUBLIC KEY-----

    """
}
