"""As fail-once.ts, for receivers in Python, which import this by PYTHONPATH when they start."""

import builtins

printed = builtins.print
failed = set()


def fail_once(*words, **options):
    id = str(words[0]) if words else ""
    if id.startswith("fails-once-") and id not in failed:
        failed.add(id)
        raise RuntimeError("planted")
    printed(*words, **options)


builtins.print = fail_once
