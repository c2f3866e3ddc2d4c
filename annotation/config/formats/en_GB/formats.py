"""British formats with 24 hours; Django's use 12."""

DATE_FORMAT = SHORT_DATE_FORMAT = "j M Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = SHORT_DATETIME_FORMAT = "j M Y, H:i"
