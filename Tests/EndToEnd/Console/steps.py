"""Steps that a person takes in the console, played in a headless Chromium against a running server.

    steps.py dev HOST:PORT [FOLDER]              a server with --dev
    steps.py rules HOST:PORT TOKENFILE [FOLDER]  one with rules and tokens; the file has a token of an
                                                 administrator

Prints one line a step, `ok NAME` or `FAILED NAME: REASON`; ends with 1 when one failed. Pictures of the
pages go to FOLDER if it is given. CONSOLE_FILES names a folder whose files take the place of the
server's, to work on the console without building it.
"""

import os
import sys
import time
import traceback

from browser import Failed
from stage import HERE, STEPS, browser, mode, picture

# Steps are played in the order in which their pages come here.
import pages.frame  # noqa: F401
import pages.tree  # noqa: F401
import pages.documents  # noqa: F401
import pages.rules  # noqa: F401
import pages.rest  # noqa: F401


def play(wanted):
    failed = 0
    for function in STEPS[mode]:
        name = function.__name__.replace("_s_", "'s ").replace("_", " ")
        if wanted and wanted not in name:
            continue
        begin = time.monotonic()
        try:
            function()
            print(f"ok {name} ({time.monotonic() - begin:.1f} s)", flush=True)
        except Exception as error:
            failed += 1
            print(f"FAILED {name}: {error}", flush=True)
            if not isinstance(error, Failed):
                traceback.print_exc()
            picture("failed-" + function.__name__)
            browser.run("document.querySelectorAll('dialog').forEach((one) => one.close())")
    return 1 if failed else 0


try:
    browser.install(open(os.path.join(HERE, "helpers.js")).read())
    browser.size(1280)
    code = play(os.environ.get("CONSOLE_STEP"))
finally:
    browser.close()
sys.exit(code)
