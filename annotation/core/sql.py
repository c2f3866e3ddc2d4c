"""Statements by hand that every request begins with; building them again as queries took longer than answering them."""

# Defended by tests/bench/answering.py.
ROLES_STATEMENT = "SELECT roles FROM annotation_membership WHERE project_id = %s AND user_id = %s"

# Defended by tests/bench/answering.py; both parts ride an index.
STANDING = """
(SELECT roles FROM annotation_membership WHERE project_id = {project} AND user_id = %(person)s), EXISTS (
    SELECT 1
    FROM annotation_assignment
    JOIN annotation_documentset ON annotation_documentset.id = annotation_assignment.document_set_id
    WHERE annotation_assignment.assessor_id = %(person)s AND annotation_assignment.closed_at IS NULL
      AND annotation_assignment.unassigned_at IS NULL AND annotation_documentset.project_id = {project}
)
"""

# A project, its deciding judge and what the person is in it, in one question. Defended by tests/bench/answering.py.
ENTERED = """
SELECT {standing}, {project}, {judge}{beside}
FROM annotation_project project LEFT JOIN annotation_judge judge ON judge.id = project.deciding_judge_id {join}
WHERE project.slug = %(slug)s AND project.deleted_at IS NULL
"""
BESIDE = "LEFT JOIN {table} beside ON beside.project_id = project.id AND beside.public_id = %(name)s"
