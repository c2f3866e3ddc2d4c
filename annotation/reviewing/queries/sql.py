"""The statements of reviewing that are written by hand, each with the benchmark of `make bench` that defends it.

Each claim that comes on screen asks them: they took longer to build as queries than to answer.
"""

from __future__ import annotations

# All that an answer to a check goes by: a row for each answer of everybody, the oldest first, or one without any.
# Defended by tests/bench/answering.py (answer).
BEFORE_ANSWER = """
SELECT
    {standing},
    (SELECT id FROM annotation_guideline WHERE project_id = project.id ORDER BY version DESC LIMIT 1),
    EXISTS (SELECT 1 FROM annotation_sampledcheck WHERE check_row_id = annotation_check.id AND verdict_id IS NULL),
    (SELECT username FROM auth_user WHERE id = verdict.person_id),
    (SELECT name FROM annotation_judge WHERE id = verdict.judge_id),
    {verdict}, {project}, {check}, {claim}, {look}
FROM annotation_check
JOIN annotation_project project ON project.id = annotation_check.project_id
JOIN annotation_claim claim ON claim.id = annotation_check.claim_id
LEFT JOIN annotation_look look ON look.check_row_id = annotation_check.id AND look.person_id = %(person)s
LEFT JOIN annotation_verdict verdict ON verdict.check_row_id = annotation_check.id
WHERE annotation_check.id = %(check)s
ORDER BY verdict.id
"""
