"""How people come into a project, talk in it and hear from it."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q

from annotation.models.base import PublicRow
from annotation.models.claim import Claim
from annotation.models.constraints import either, has_text, together
from annotation.models.project import Project
from annotation.models.summary import Unit


class Invitation(PublicRow):
    """A link that lets one person into a project with some roles. The link's secret is kept as a hash alone."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    roles = models.JSONField(default=list)
    note = models.CharField(max_length=120, blank=True, help_text="For whom it is meant.")
    email = models.EmailField(blank=True, help_text="Where the link is mailed; empty where it was shown.")
    mailed_at = models.DateTimeField(null=True, blank=True)
    link_base = models.TextField(
        null=True, editable=False, help_text="Where the installation is reached, for the link that is mailed."
    )
    secret_hash = models.CharField(max_length=64, unique=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="invitations")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="accepted_invitations",
    )
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        constraints = (
            together("invitation_accepted_by_somebody", "accepted_at", "accepted_by"),
            models.CheckConstraint(
                name="invitation_accepted_or_revoked",
                condition=Q(accepted_at__isnull=True) | Q(revoked_at__isnull=True),
            ),
        )

    def __str__(self) -> str:
        return f"invitation {self.public_id}"


class ImportedPerson(models.Model):
    """Somebody whose answers came with an archive: a name to tell voices apart, and never an account.

    Their row among the accounts is closed and has no password, and is in no list of accounts.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="imported")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="imported_people")
    name = models.CharField(max_length=150, help_text="As the archive calls them.")

    class Meta:
        verbose_name_plural = "imported people"
        ordering = ("project_id", "name")
        constraints = (
            models.UniqueConstraint(fields=("project", "name"), name="imported_person_once_per_project"),
        )

    def __str__(self) -> str:
        return self.name


def accounts() -> models.QuerySet[User]:
    """Everybody who has an account, or had one: all users but the people of archives."""
    return User.objects.filter(imported__isnull=True)


def administrators() -> models.QuerySet[User]:
    """Whoever can sign in and may do everything."""
    return User.objects.filter(is_active=True, is_superuser=True)


class SetupLink(PublicRow):
    """A link that makes an administrator's account where there is none. Its secret is kept as a hash alone."""

    secret_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"setup link {self.public_id}"


class CachedValue(models.Model):
    """What is kept for a while where there is no Redis, such as how often somebody asked; Django's cache writes it."""

    cache_key = models.CharField(max_length=255, primary_key=True)
    value = models.TextField()
    expires = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.cache_key


class Comment(PublicRow):
    """A remark on a claim or on a unit of a text. Taken back, its words are no longer shown."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="comments")
    claim = models.ForeignKey(Claim, null=True, blank=True, on_delete=models.CASCADE, related_name="comments")
    unit = models.ForeignKey(Unit, null=True, blank=True, on_delete=models.CASCADE, related_name="comments")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="comments")
    text = models.TextField()
    mentions = models.ManyToManyField(settings.AUTH_USER_MODEL, blank=True, related_name="mentioned_in")
    created_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            either("comment_on_claim_or_unit", "claim", "unit"),
            has_text("comment_has_text"),
        )

    def __str__(self) -> str:
        return self.text[:80]


class Notice(PublicRow):
    """Something in a project that waits for one person, told inside the app.

    `count` is how many things it tells of. Of disputes a person has one unread notice in a project, which counts up.
    """

    class Kind(models.TextChoices):
        MENTION = "mention", "Mentioned"
        ASSIGNED = "assigned", "Work assigned"
        REOPENED = "reopened", "Work opened again"
        RECALLED = "recalled", "Work withdrawn"
        DRAWN = "drawn", "Checks sampled"
        EXPORT = "export", "Export ready"
        DISPUTE = "dispute", "Disputes opened"
        RUN = "run", "Run ended"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="notices")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=8, choices=Kind)
    text = models.CharField(max_length=300)
    address = models.CharField(max_length=300, help_text="Path of the page where it is seen.")
    count = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(
                fields=("project", "person"),
                condition=Q(kind="dispute", read_at__isnull=True),
                name="notice_of_disputes_once",
            ),
        )
        indexes = (models.Index(fields=("person",), condition=Q(read_at__isnull=True), name="notice_unread"),)

    def __str__(self) -> str:
        return self.text
