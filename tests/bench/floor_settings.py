"""The dashboard's settings with one view in the place of all: what cannot be done for less."""

from joobq_admin import settings

globals().update({name: getattr(settings, name) for name in dir(settings) if name.isupper()})
ROOT_URLCONF = "tests.bench.floor"
