import pytest
from tests.annotation.web.test_progress_in_browser import *  # noqa
from tests.annotation.web.test_progress_in_browser import busy
pytestmark = pytest.mark.django_db(transaction=True)
for n in list(globals()):
    if n.startswith("test_"): del globals()[n]
def test_look(busy, desk):
    for person, places in (("mona", [*VIEWS, SCORES]), ("ana", [WORK])):
        for kind, options in (("d", {}), ("p", {"viewport": PHONE}), ("k", {"color_scheme": "dark"})):
            page = sign_in(desk(**options), person)
            for n, place in enumerate(places):
                page.goto(place)
                page.screenshot(path=f"/tmp/s6shots/{person}{n}{kind}.png", full_page=True)
