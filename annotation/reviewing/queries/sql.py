"""The hand-written statements of reviewing, each with the benchmark of `make bench` that defends it.

They run for every claim on screen; building them as queries took longer than running them.
"""

from __future__ import annotations

# One row for each answer to the check, oldest first, or one row without an answer. Defended by
# tests/bench/answering.py (answer).
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
