"""Steps one after another, for about as long as one request may take."""

import time
from collections.abc import Callable

from redis import exceptions

from joobq_admin.joobq.outcome import AnswerLost


def for_a_while(seconds: float, step: Callable[[], bool]) -> bool:
    """Takes steps, at least one, until it took so long or one says that it was the last; whether there may be more.

    A step that fails after others were done ends it: they count, and whoever goes on meets the failure at once. A lost
    answer is raised: nobody knows what that step did.
    """
    until, taken = time.monotonic() + seconds, False
    while not taken or time.monotonic() < until:
        try:
            if not step():
                return False
        except exceptions.RedisError as error:
            if isinstance(error, AnswerLost) or not taken:
                raise
            return True
        taken = True
    return True
