"""The help pages, which everybody may read."""

from __future__ import annotations

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from annotation.help.pages import FILE_TYPES, INDEX, help_file, help_page

FILES_KEPT_S = 3600


@require_safe
@cache_control(private=True, no_cache=True)
def help_index(request: HttpRequest) -> HttpResponse:
    return _show(request, INDEX)


@require_safe
@cache_control(private=True, no_cache=True)
def help_text(request: HttpRequest, name: str) -> HttpResponse:
    return _show(request, name)


@require_safe
@cache_control(max_age=FILES_KEPT_S)
def help_attachment(request: HttpRequest, name: str) -> FileResponse:
    """Send a picture for a page, or another file as a download."""
    path = help_file(name)
    if path is None:
        raise Http404
    is_picture = path.suffix == ".png"
    return FileResponse(
        path.open("rb"), as_attachment=not is_picture, filename=name, content_type=FILE_TYPES[path.suffix]
    )


def _show(request: HttpRequest, name: str) -> HttpResponse:
    page = help_page(name)
    if page is None:
        raise Http404
    return render(request, "help/page.html", {"page": page, "is_index": name == INDEX})
