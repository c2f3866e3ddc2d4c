"""Servers that judges may call."""

from django.db import models

from annotation.models.base import PublicRow


class AllowedServer(PublicRow):
    """A base URL that judges may call, in addition to the URLs of COVERDICT_JUDGE_URLS."""

    url = models.CharField(max_length=500, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("url",)

    def __str__(self) -> str:
        return self.url
