"""The database models."""

from annotation.models.access import AccountEvent
from annotation.models.allowed_server import AllowedServer
from annotation.models.analysis import Analysis
from annotation.models.answer import Answer, ErrorType
from annotation.models.assignment import Assignment, Reading, Sample, SampledCheck
from annotation.models.claim import (
    SCORE_SIDES,
    SIDE_SCORES,
    Check,
    Claim,
    ClaimOrigin,
    ClaimSet,
    Label,
    Look,
    Verdict,
)
from annotation.models.criterion import Criterion, Rating, SampledRating
from annotation.models.dispute import Dispute
from annotation.models.document import Document, DocumentSet
from annotation.models.event import Event
from annotation.models.guideline import Guideline
from annotation.models.judge import (
    Judge,
    JudgeCall,
    JudgeExamples,
)
from annotation.models.judgment import CoverageJudgment
from annotation.models.people import (
    CachedValue,
    Comment,
    Invitation,
    SetupLink,
    administrators,
)
from annotation.models.project import Membership, Project, Role
from annotation.models.prompt import PromptVersion
from annotation.models.run import Export, Import, Job, Run, Worker
from annotation.models.score import SCORES, Score
from annotation.models.summary import Comparison, Summary, System, Unit
from annotation.models.trial import AnswerAgain, GuidelineTrial
from annotation.models.watch import Watch, WatchPeriod

__all__ = [
    "SCORES",
    "SCORE_SIDES",
    "SIDE_SCORES",
    "AccountEvent",
    "AllowedServer",
    "Analysis",
    "Answer",
    "AnswerAgain",
    "Assignment",
    "CachedValue",
    "Check",
    "Claim",
    "ClaimOrigin",
    "ClaimSet",
    "Comment",
    "Comparison",
    "CoverageJudgment",
    "Criterion",
    "Dispute",
    "Document",
    "DocumentSet",
    "ErrorType",
    "Event",
    "Export",
    "Guideline",
    "GuidelineTrial",
    "Import",
    "Invitation",
    "Job",
    "Judge",
    "JudgeCall",
    "JudgeExamples",
    "Label",
    "Look",
    "Membership",
    "Project",
    "PromptVersion",
    "Rating",
    "Reading",
    "Role",
    "Run",
    "Sample",
    "SampledCheck",
    "SampledRating",
    "Score",
    "SetupLink",
    "Summary",
    "System",
    "Unit",
    "Verdict",
    "Watch",
    "WatchPeriod",
    "Worker",
    "administrators",
]
