"""What more answers would bring, and the draw that asks for them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.analysis.estimates.forecasts import DRAWABLE
from annotation.analysis.estimates.plan import plan_key
from annotation.analysis.estimates.sample_planned import sample_planned
from annotation.analysis.figures import answered
from annotation.api.access import ApiView
from annotation.api.fields import NamedChoice
from annotation.api.rows import CheckDrawRow
from annotation.api.schema import operation
from annotation.core.permissions import Verb
from annotation.models import SCORE_SIDES, Analysis
from annotation.models.base import SEED_BITS
from annotation.sampling.queries.check_samples import check_samples


def _number(**words: Any) -> Any:
    return serializers.FloatField(allow_null=True, **words)


class MeanWithInterval(serializers.Serializer[Any]):
    """A mean over document sets with its 95 % interval."""

    mean = _number()
    low = _number()
    high = _number()
    n = serializers.IntegerField()
    left_out = serializers.IntegerField()


class KnownOfSystem(serializers.Serializer[Any]):
    """What is known of a system now; null where nothing is."""

    system = serializers.CharField()
    system_id = serializers.CharField()
    judge = MeanWithInterval(allow_null=True, help_text="Deciding judge alone.")
    estimate = MeanWithInterval(
        allow_null=True, help_text="Estimate of people's answers from the latest random sample."
    )
    people = MeanWithInterval(allow_null=True, help_text="People's sampled answers alone.")
    least = _number(
        help_text="Width if every check of these document sets were answered; of people's own scores if all "
        "are; null if unknown."
    )


class KnownWords(serializers.Serializer[Any]):
    state = serializers.CharField(help_text="none, open, people, few or fine")
    sentence = serializers.CharField()
    caption = serializers.CharField(help_text="What the estimate's interval covers.")


class PlanOutlook(serializers.Serializer[Any]):
    """What one design would bring at a size."""

    mean = _number(help_text="Mean width over systems; null if any is not forecast.")
    widest = _number(
        help_text="Width that no system's interval exceeds in half of such samples; null as the mean."
    )
    documents = serializers.FloatField(
        help_text="Document sets with an answer that no system falls short of in half of such samples."
    )
    is_few = serializers.BooleanField(help_text="Too few of these to use the judge; people alone are used.")
    systems = serializers.DictField(
        child=serializers.FloatField(allow_null=True), help_text="Expected width per system."
    )
    strata = serializers.DictField(
        child=serializers.DictField(child=serializers.FloatField()),
        help_text="Expected checks by system and judge uncertainty.",
    )


class ShortOfDocuments(serializers.Serializer[Any]):
    """A system that needs more document sets."""

    system = serializers.CharField()
    held = serializers.IntegerField()
    needed = serializers.IntegerField()


class PlanWish(serializers.Serializer[Any]):
    """What it takes that no system's interval is wider."""

    width = serializers.FloatField()
    sizes = serializers.DictField(
        child=serializers.IntegerField(allow_null=True), help_text="The smallest planned size, by design."
    )
    short = ShortOfDocuments(
        many=True, help_text="Systems that need more document sets, if no size is enough."
    )
    is_reached = serializers.BooleanField(help_text="The width is already reached.")
    sentence = serializers.CharField()


class PlanTarget(serializers.Serializer[Any]):
    """The plan at one target length."""

    target_words = serializers.IntegerField(allow_null=True)
    checks = serializers.IntegerField()
    documents = serializers.IntegerField(help_text="Independent units: groups count once.")
    document_sets = serializers.IntegerField()
    cluster = serializers.CharField(help_text="What counts as independent: document set or group.")
    widest_now = _number(help_text="Width of the widest current interval; null if one is missing.")
    known = KnownWords()
    warning = serializers.CharField()
    unknown = serializers.CharField(
        help_text="Reason if too few answers prevent a forecast; otherwise empty."
    )
    least_in_words = serializers.CharField(help_text="Explanation of the least widths; may be empty.")
    second_rating = _number(
        help_text="Effect of a second answer to a check on widths, as a share of an answer to a new check; "
        "null without checks with several answers, or without a forecast."
    )
    second_in_words = serializers.CharField(help_text="The same in a sentence; may be empty.")
    systems = KnownOfSystem(many=True)
    outlooks = serializers.DictField(
        child=serializers.DictField(child=PlanOutlook()), help_text="By size of the sample and design."
    )
    wanted = PlanWish(many=True)


class PlanSize(serializers.Serializer[Any]):
    size = serializers.IntegerField(help_text="Checks in the sample, across systems and target lengths.")
    hours = _number(help_text="At the median time; null if no answers have been timed.")


class PlanQuery(serializers.Serializer[Any]):
    score = NamedChoice(
        "ClaimScore",
        [(score, score) for score in SCORE_SIDES],
        default="coverage",
        help_text="What to plan for.",
    )


class PlanFigures(serializers.Serializer[Any]):
    score = serializers.CharField(help_text="What is planned for: coverage or alignment.")
    made_at = serializers.DateTimeField()
    is_stale = serializers.BooleanField(
        help_text="Something has changed since; newer figures are being computed."
    )
    basis = serializers.CharField(help_text="pilot, pilot_too_small, judge, too_few_sets or nothing")
    basis_in_words = serializers.CharField(help_text="Basis and assumptions of the forecast.")
    pilot = serializers.CharField(allow_null=True, help_text="The latest random sample that it uses.")
    pilot_answered = serializers.IntegerField(
        help_text="Answered checks of these samples, each counted once."
    )
    complete = serializers.CharField(
        help_text="Message if people have answered every check; otherwise empty."
    )
    checks = serializers.IntegerField()
    came_after = serializers.IntegerField(help_text="Checks added after that sample.")
    drawn_before = serializers.IntegerField(help_text="Checks with a blind answer, which a sample keeps.")
    seconds = _number(help_text="Median time of an answer.")
    timed = serializers.IntegerField()
    pace_in_words = serializers.CharField()
    sizes = PlanSize(many=True)
    targets = PlanTarget(many=True)


class NewPlannedDraw(PlanQuery):
    size = serializers.IntegerField(min_value=1, help_text="Checks to sample.")
    design = NamedChoice("PlanDesign", [(design, design) for design in DRAWABLE])
    seed = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=2**SEED_BITS - 1,
        help_text="Repeating a seed returns the same sample.",
    )


class PlanView(ApiView):
    tag = "scores"
    pagination_class = None

    @operation("get_plan", parameters=[PlanQuery], responses=PlanFigures, refusals=("503",))
    def get(self, request: Request, slug: str) -> Response:
        """Show what is known now, and how wide intervals would be with more answers of people.

        Forecasts go by the latest answered random sample of checks, else by the judge's own probabilities.
        """
        project = self.enter(Verb.VIEW_SCORES)
        key = plan_key(self.query(PlanQuery)["score"])
        return Response(PlanFigures(answered(project, Analysis.Kind.PLAN, key=key)).data)


class PlannedSamples(ApiView):
    tag = "checks"
    pagination_class = None

    @operation("draw_planned_checks", request=NewPlannedDraw, responses={201: CheckDrawRow})
    def post(self, request: Request, slug: str) -> Response:
        """Sample claims for review as the plan foretells them, each with its recorded chance.

        Needs the verb "assign".
        """
        project = self.enter(Verb.ASSIGN)
        asked = self.body(NewPlannedDraw)
        side = SCORE_SIDES[asked.pop("score")]
        drawn = sample_planned(project=project, by=self.person, side=side, **asked)
        (row,) = check_samples(project, only=drawn.public_id)
        return Response(CheckDrawRow(row).data, status=status.HTTP_201_CREATED)
