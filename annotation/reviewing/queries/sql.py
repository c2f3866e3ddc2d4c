"""The statements of reviewing that are written by hand, each with the benchmark of `make bench` that defends it.

Each claim that comes on screen asks them: they took longer to build as queries than to answer.
"""

from __future__ import annotations

# All that an answer to a check goes by: a row for each verdict of everybody, the oldest first, or one without any.
# Defended by tests/bench/answering.py (answer).
BEFORE_ANSWER = """
SELECT
    {standing},
    (SELECT id FROM annotation_guideline WHERE project_id = project.id ORDER BY version DESC LIMIT 1),
    EXISTS (SELECT 1 FROM annotation_drawncheck WHERE check_row_id = annotation_check.id AND verdict_id IS NULL),
    EXISTS (SELECT 1 FROM annotation_adjudication WHERE check_row_id = annotation_check.id),
    (SELECT username FROM auth_user WHERE id = verdict.person_id),
    (SELECT name FROM annotation_judge WHERE id = verdict.judge_id),
    {verdict}, {project}, {check}, {claim}, {look}
FROM annotation_check
JOIN annotation_project project ON project.id = annotation_check.project_id
JOIN annotation_claim claim ON claim.id = annotation_check.claim_id
LEFT JOIN annotation_checklook look ON look.check_row_id = annotation_check.id AND look.person_id = %(person)s
LEFT JOIN annotation_verdict verdict ON verdict.check_row_id = annotation_check.id
WHERE annotation_check.id = %(check)s
ORDER BY verdict.id
"""

# An expression: the ORM makes a join of it. Defended by tests/bench/next_claim.py (random draw).
PLACE_IN_DRAW = """
COALESCE((
    SELECT place.id FROM annotation_drawncheck place
    JOIN annotation_draw draw ON draw.id = place.draw_id
    WHERE place.check_row_id = %s AND draw.public_id = %s
), 0)
"""

# Whether an adjudicator, or assessors' percents, decide a unit. Defended by tests/bench/answering.py (answer).
UNIT_SETTLED = """
SELECT
    EXISTS (
        SELECT 1 FROM annotation_adjudication
        WHERE comparison_id = comparison.id AND {unit} = %s AND withdrawn_at IS NULL
    ),
    EXISTS (
        SELECT 1 FROM annotation_unitjudgment judgment
        JOIN annotation_reading reading ON reading.id = judgment.reading_id
        WHERE reading.comparison_id = comparison.id AND judgment.{unit} = %s AND judgment.is_current
            AND judgment.percent IS NOT NULL AND reading.state = %s
    )
FROM annotation_comparison comparison WHERE peer_id = %s AND model_id = %s
"""
