"""The rows of the project, one noun a module."""

from annotation.models.access import AccountEvent, AccountSession
from annotation.models.adjudication import Adjudication
from annotation.models.analysis import Analysis
from annotation.models.assignment import Assignment, Draw, DrawnCheck, Sitting
from annotation.models.claim import (
    SCORE_SIDES,
    SIDE_SCORES,
    Check,
    CheckLook,
    Claim,
    ClaimChange,
    ClaimOrigin,
    ClaimSet,
    ErrorType,
    Label,
    Verdict,
    VerdictBatch,
)
from annotation.models.dispute import Dispute
from annotation.models.document import Document, DocumentSet
from annotation.models.event import Event
from annotation.models.guideline import Guideline
from annotation.models.judge import (
    CallClaim,
    Judge,
    JudgeCall,
    JudgeExamples,
)
from annotation.models.judgment import SummaryJudgment, UnitJudgment
from annotation.models.people import (
    CachedValue,
    Comment,
    ImportedPerson,
    Invitation,
    MailTurn,
    Notice,
    SetupLink,
    accounts,
    administrators,
)
from annotation.models.project import Membership, Project, Role
from annotation.models.prompt import PromptVersion
from annotation.models.published import PublishedPercent, PublishedScore
from annotation.models.question import Question, QuestionAnswer, Rating
from annotation.models.run import Export, Import, Job, Run, Worker
from annotation.models.score import SCORES, Score
from annotation.models.summary import Comparison, Summary, System, Unit, UnitChange

__all__ = [
    "SCORES",
    "SCORE_SIDES",
    "SIDE_SCORES",
    "AccountEvent",
    "AccountSession",
    "Adjudication",
    "Analysis",
    "Assignment",
    "CachedValue",
    "CallClaim",
    "Check",
    "CheckLook",
    "Claim",
    "ClaimChange",
    "ClaimOrigin",
    "ClaimSet",
    "Comment",
    "Comparison",
    "Dispute",
    "Document",
    "DocumentSet",
    "Draw",
    "DrawnCheck",
    "ErrorType",
    "Event",
    "Export",
    "Guideline",
    "Import",
    "ImportedPerson",
    "Invitation",
    "Job",
    "Judge",
    "JudgeCall",
    "JudgeExamples",
    "Label",
    "MailTurn",
    "Membership",
    "Notice",
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
    "SetupLink",
    "Sitting",
    "Summary",
    "SummaryJudgment",
    "System",
    "Unit",
    "UnitChange",
    "UnitJudgment",
    "Verdict",
    "VerdictBatch",
    "Worker",
    "accounts",
    "administrators",
]
