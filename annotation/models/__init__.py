"""The rows of the project, one noun a module."""

from annotation.models.adjudication import Adjudication
from annotation.models.assignment import Assignment, Draw, Sitting
from annotation.models.claim import Check, Claim, ClaimOrigin, ClaimSet, Label, Verdict
from annotation.models.document import Document, DocumentSet
from annotation.models.event import Event
from annotation.models.judge import CallClaim, Judge, JudgeCall
from annotation.models.judgment import SummaryJudgment, UnitJudgment
from annotation.models.project import Membership, Project, Role
from annotation.models.prompt import PromptVersion
from annotation.models.published import PublishedPercent, PublishedScore
from annotation.models.question import Question, QuestionAnswer, Rating
from annotation.models.run import Export, Job, Run, Worker
from annotation.models.score import SCORES, Score
from annotation.models.summary import Comparison, Summary, System, Unit, UnitChange

__all__ = [
    "SCORES",
    "Adjudication",
    "Assignment",
    "CallClaim",
    "Check",
    "Claim",
    "ClaimOrigin",
    "ClaimSet",
    "Comparison",
    "Document",
    "DocumentSet",
    "Draw",
    "Event",
    "Export",
    "Job",
    "Judge",
    "JudgeCall",
    "Label",
    "Membership",
    "Project",
    "PromptVersion",
    "PublishedPercent",
    "PublishedScore",
    "Question",
    "QuestionAnswer",
    "Rating",
    "Role",
    "Run",
    "Score",
    "Sitting",
    "Summary",
    "SummaryJudgment",
    "System",
    "Unit",
    "UnitChange",
    "UnitJudgment",
    "Verdict",
    "Worker",
]
