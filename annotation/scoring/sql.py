"""The hand-written statements that load inputs of scoring."""

from __future__ import annotations

SUMMARIES = """
SELECT {columns}
FROM annotation_summary summary
JOIN annotation_documentset document_set ON document_set.id = summary.document_set_id
LEFT JOIN annotation_system author ON author.id = summary.system_id
WHERE summary.id IN ({summaries}) AND summary.is_summary
ORDER BY summary.id
"""

CHECKS = """
SELECT {columns}
FROM annotation_check JOIN annotation_claim claim ON claim.id = annotation_check.claim_id
WHERE annotation_check.is_current AND annotation_check.id IN (
    SELECT id FROM annotation_check WHERE summary_id IN ({summaries})
    UNION ALL
    SELECT of_source.id
    FROM annotation_summary summary
    JOIN annotation_check of_source
        ON of_source.document_set_id = summary.document_set_id AND of_source.summary_id IS NULL
    WHERE summary.id IN ({summaries})
)
ORDER BY annotation_check.id
"""

# This statement loads other inputs of scoring, one row per fact. The kind of a fact defines the meaning of its columns.
# MATERIALIZED is needed: until a growing table is analysed, PostgreSQL expects one verdict and would read all checks
# for each verdict. CROSS JOIN is needed: SQLite keeps its order, and would otherwise read all answers of the judge.
FACTS = """
WITH summary AS (
    SELECT id, document_set_id FROM annotation_summary WHERE id IN ({summaries})
), comparison AS (
    SELECT id, public_id, summary_id, reference_id FROM annotation_comparison
    WHERE summary_id IN (SELECT id FROM summary)
), asked AS MATERIALIZED (
    SELECT id FROM annotation_check WHERE summary_id IN (SELECT id FROM summary) AND is_current
    UNION ALL
    SELECT id FROM annotation_check
    WHERE summary_id IS NULL AND document_set_id IN (SELECT document_set_id FROM summary) AND is_current
)
SELECT 'comparison' AS kind, id AS place, summary_id AS a, id AS b, reference_id AS c, CAST(NULL AS bigint) AS d,
    public_id AS one, CAST(NULL AS text) AS two, CAST(NULL AS text) AS three,
    CAST(NULL AS double precision) AS x, CAST(NULL AS double precision) AS y
FROM comparison
UNION ALL
SELECT 'unit', position, summary_id, id, NULL, NULL, public_id, NULL, NULL, weight, NULL
FROM annotation_unit WHERE summary_id IN (SELECT reference_id FROM comparison)
UNION ALL
SELECT 'claim', claim.position, claim_set.summary_id, claim.id, claim.unit_id, NULL, claim.public_id, NULL, NULL,
    claim.weight, NULL
FROM annotation_claimset claim_set
LEFT JOIN annotation_claim claim ON claim.claim_set_id = claim_set.id AND claim.removed_at IS NULL
WHERE claim_set.is_active
    AND claim_set.summary_id IN (SELECT reference_id FROM comparison UNION SELECT id FROM summary)
UNION ALL
SELECT 'claim of documents', claim.position, claim_set.document_set_id, claim.id, NULL, NULL, claim.public_id,
    NULL, NULL, claim.weight, NULL
FROM annotation_claimset claim_set
LEFT JOIN annotation_claim claim ON claim.claim_set_id = claim_set.id AND claim.removed_at IS NULL
WHERE claim_set.is_active AND claim_set.kind = 'claims'
    AND claim_set.document_set_id IN (
        SELECT document_set_id FROM summary WHERE id NOT IN (SELECT summary_id FROM comparison)
    )
UNION ALL
SELECT 'question', claim.position, claim_set.document_set_id, claim.id, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM annotation_claimset claim_set
JOIN annotation_claim claim ON claim.claim_set_id = claim_set.id AND claim.removed_at IS NULL
WHERE claim_set.kind = 'questions' AND claim_set.document_set_id IN (SELECT document_set_id FROM summary)
UNION ALL
SELECT verdict.role, verdict.id, verdict.check_row_id, verdict.person_id, NULL, NULL,
    verdict.label, verdict.origin_name, CASE WHEN verdict.label IS NULL THEN verdict.reason END,
    verdict.probability, verdict.uncertainty
FROM asked CROSS JOIN annotation_verdict verdict
WHERE verdict.check_row_id = asked.id AND verdict.withdrawn_at IS NULL
    AND (verdict.judge_id IS NULL OR verdict.judge_id = %s)
UNION ALL
SELECT 'percent', judgment.id, judgment.comparison_id, judgment.unit_id, judgment.claim_id, judgment.person_id,
    judgment.role, NULL, NULL, judgment.percent, NULL
FROM annotation_coveragejudgment judgment
LEFT JOIN annotation_reading reading ON reading.id = judgment.reading_id
WHERE judgment.comparison_id IN (SELECT id FROM comparison) AND judgment.is_current
    AND judgment.percent IS NOT NULL AND judgment.withdrawn_at IS NULL
    AND (judgment.reading_id IS NULL OR reading.state = 'submitted')
UNION ALL
SELECT 'rating', rating.id, rating.summary_id, rating.criterion_id, rating.person_id, NULL, criterion.name, rating.role,
    rating.origin_name, rating.value, NULL
FROM summary CROSS JOIN annotation_rating rating
JOIN annotation_criterion criterion ON criterion.id = rating.criterion_id
LEFT JOIN annotation_assignment assignment ON assignment.id = rating.assignment_id
WHERE rating.summary_id = summary.id AND (rating.judge_id IS NULL OR rating.judge_id = %s)
    AND criterion.retired_at IS NULL AND rating.withdrawn_at IS NULL
    AND (rating.assignment_id IS NULL OR assignment.closed_at IS NOT NULL)
UNION ALL
SELECT 'disputed', 0, id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM summary
WHERE EXISTS (
    SELECT 1 FROM annotation_check JOIN annotation_dispute dispute ON dispute.check_row_id = annotation_check.id
    WHERE annotation_check.summary_id = summary.id
) OR EXISTS (
    SELECT 1 FROM annotation_check JOIN annotation_dispute dispute ON dispute.check_row_id = annotation_check.id
    WHERE annotation_check.summary_id IS NULL AND annotation_check.document_set_id = summary.document_set_id
) OR EXISTS (
    SELECT 1 FROM annotation_dispute dispute WHERE dispute.summary_id = summary.id
) OR EXISTS (
    SELECT 1 FROM comparison JOIN annotation_dispute dispute ON dispute.comparison_id = comparison.id
    WHERE comparison.summary_id = summary.id
)
ORDER BY place
"""
