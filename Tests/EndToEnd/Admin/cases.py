"""Cases that the Firebase Admin SDK for Python plays against a running server.

    cases.py HOST:PORT [CASE ...]

The server runs with --dev and with the rules beside this file. Each case is a function of the
modules in `treecases`; prints one line a case, `ok NAME` or `FAILED NAME` with the reason, and a
summary at the end.
"""

import playing

# Cases are played in the order in which their modules come here.
import treecases.values  # noqa: F401
import treecases.reading  # noqa: F401
import treecases.queries  # noqa: F401
import treecases.listening  # noqa: F401
import treecases.databases  # noqa: F401

playing.play()
