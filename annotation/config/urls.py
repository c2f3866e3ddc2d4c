"""The root routes: health, admin, the API with its schema and docs, and the pages."""

from django.conf import settings
from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from annotation.accounts.web import admin_door
from annotation.config import health
from annotation.watching import web as watching

handler500 = "annotation.config.faults.broken"

admin.autodiscover()

urlpatterns = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", watching.metrics, name="metrics"),
    path("favicon.ico", RedirectView.as_view(url=f"{settings.STATIC_URL}favicon.svg")),
    path("admin/login/", admin_door, name="admin-sign-in"),
    path("admin/", admin.site.urls),
    path("api/schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path(
        "api/docs/",
        SpectacularSwaggerSplitView.as_view(url_name="api-schema", template_name="api/docs.html"),
        name="api-docs",
    ),
    path("api/v1/", include("annotation.config.api_urls")),
    path("", include("annotation.config.web_urls")),
]
