"""`POST /api/v1/diagnose/`: the diagnosis of a text as JSON. Needs no key and stores nothing."""

from http import HTTPStatus
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from ninja import Field, Router, Schema
from ninja.decorators import decorate_view

from stackviz.intake.report_parts.pasted import (
    MOST_KB,
    Refused,
    mask_pasted,
    paced,
    read_pasted,
    text_of_body,
    text_of_form,
)
from stackviz.pages.diagnose.diagnosis import matched_cards
from stackviz.records.stacks.rule_tables import rule_tables
from stackviz.report.dumps.answer import answer
from stackviz.report.dumps.markdown import to_markdown
from stackviz.report.importers.deadline import Deadline
from stackviz.web.http.errors import ErrorBody, Refusal
from stackviz.web.http.forms import refuse_charset
from stackviz.web.http.rate_limit import DIAGNOSES, RateLimited

router = Router()
MULTIPART = "multipart/form-data"
JSON, MARKDOWN = "application/json", "text/markdown"


class DiagnosedCard(Schema):
    index: int
    reported_name: str
    accelerator: str | None = Field(description="slug of its spec sheet; null if no sheet has the name, or several do")
    memory_bytes: int | None
    driver_version: str | None


class DiagnosedComponent(Schema):
    layer: str | None
    component: str
    version: str | None
    state: Literal["reported", "fits", "warning", "broken", "unknown"]
    name: str | None = Field(None, description="the name a card reports; cards only")


class SimilarMessage(Schema):
    key: str = Field(description="its page is `/causes/KEY/`")
    message: str


class FindingOut(Schema):
    rule: str
    severity: Literal["broken", "warning", "note", "cannot-tell"] = Field(description="most serious first")
    component: str
    title: str
    explanation: str
    evidence: dict[str, str] = Field(description="every fact the rule read")
    advice: str
    source: dict[str, str] = Field(description="title, url")
    similar: list[SimilarMessage] | None = Field(
        None, description="known messages that read like this line, which no rule explains; not the same"
    )


class ResultOut(Schema):
    benchmark: str
    device: str
    params: dict[str, Any]
    value: float | None = Field(description="the mean; null for a run that did not finish")
    unit: str
    stddev: float | None = Field(None, description="only if the dump states it")
    state: Literal["failed", "skipped"] | None = Field(None, description="only for a run that did not finish")
    reason: str | None = Field(None, description="why it did not finish")


class ReasonOut(Schema):
    reason: str
    detail: str | None


class MachineOut(Schema):
    """One machine as the text describes it. A fact that is null has its reason in `reasons`."""

    kinds: list[str] = Field(description="kinds of the dumps that were read")
    verdict: str = Field(description="how many findings are broken or warnings, or what was looked at without one")
    facts: dict[str, str | int | float | bool | None]
    cards: list[DiagnosedCard]
    components: list[DiagnosedComponent]
    findings: list[FindingOut]
    results: list[ResultOut]
    not_understood: list[str] = Field(description="lines that no importer reads, shortened")
    problems: list[str] = Field(description="problems found in the dumps")
    reasons: dict[str, ReasonOut] = Field(description="why a fact, or `cards[0].memory_bytes`, is null")


class FurtherMachineOut(MachineOut):
    differs: str = Field(description="why it is treated as a separate machine from the one before")


class DiagnosisOut(MachineOut):
    """The first machine; `machines` only if the text describes several."""

    machines: list[FurtherMachineOut] | None = None
    left_out: list[str] | None = Field(
        None, description="kinds of dumps that were not looked for or not read; only if the text took too much work"
    )


@router.post(
    "/diagnose/",
    response={200: DiagnosisOut, **dict.fromkeys((400, 413, 415, 422, 429), ErrorBody)},
    url_name="diagnose",
    summary="Diagnose a pasted dump",
    exclude_unset=True,
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": f"What tools printed, at most {MOST_KB} KB: the text itself, or files of any field name.",
            "content": {
                "text/plain": {"schema": {"type": "string"}},
                MULTIPART: {
                    "schema": {
                        "type": "object",
                        "properties": {
                            "text": {"type": "string"},
                            "files": {"type": "array", "items": {"type": "string", "format": "binary"}},
                        },
                    }
                },
            },
        },
        "responses": {
            200: {"content": {MARKDOWN: {"schema": {"type": "string", "description": "with `Accept: text/markdown`"}}}}
        },
    },
)
@decorate_view(never_cache)
def diagnose_text(request: HttpRequest) -> HttpResponse:
    """Reads dumps of one or several machines, names what does not fit, and forgets the text. No key is needed.

    With `Accept: text/markdown` the answer is a text for an issue comment, without what names a person or a machine,
    and without passwords, tokens and keys; refusals stay JSON.

    400: the request could not be read. 413: send less. 415: send text/plain or multipart/form-data. 422: no dump in it
    that is known here. 429: again after `Retry-After` seconds.
    """
    with translation.override("en"):  # a program's words do not depend on who runs it
        try:
            DIAGNOSES.count(request)
            text = _text(request)
            is_markdown = request.get_preferred_type([JSON, MARKDOWN]) == MARKDOWN
            with paced(request, text, paid=1) as deadline:
                text = mask_pasted(text, deadline) if is_markdown else text  # it is written to be published
                document = _document(text, deadline)
        except RateLimited as limited:
            raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, str(limited), None, limited.retry_after_s) from None
        except Refused as refused:
            raise Refusal(refused.status, refused.problem, refused.field) from None
    response = _response(document, is_markdown=is_markdown)
    patch_vary_headers(response, ["Accept"])
    return response


def _response(document: dict[str, Any], *, is_markdown: bool) -> HttpResponse:
    if is_markdown:
        return HttpResponse(to_markdown(document), content_type=f"{MARKDOWN}; charset=utf-8")
    return JsonResponse(document, json_dumps_params={"ensure_ascii": False})


def _text(request: HttpRequest) -> str:
    _check_type(request)
    return text_of_form(request) if request.content_type == MULTIPART else text_of_body(request)


def _check_type(request: HttpRequest) -> None:
    # No type at all is let through: the body is read as text and nothing else, so a guess can do no harm.
    kind = request.content_type or "text/plain"
    if kind != MULTIPART and not kind.startswith("text/"):
        problem = f"{kind!r} is not supported; send the text as text/plain, or files as multipart/form-data"
        raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, problem, "Content-Type")
    refuse_charset(request, "send UTF-8")
    if encoding := request.headers.get("Content-Encoding", "").strip():
        problem = f"{encoding[:40]!r} is not supported; send the text uncompressed"
        raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, problem, "Content-Encoding")


def _document(text: str, deadline: Deadline) -> dict[str, Any]:
    pasted = read_pasted(text, deadline, may_be_hollow=True, may_be_question=True)
    cards = [card for of_machine in matched_cards(pasted.machines) for card in of_machine]
    sheets = {id(card.reported): card.sheet for card in cards}

    def sheet_of(card: object) -> str | None:
        sheet = sheets.get(id(card))
        return sheet.slug if sheet else None

    document = answer(pasted.machines, rule_tables(), sheet_of, pasted.not_understood)
    if pasted.stopped:
        document["problems"] = [pasted.stopped, *document["problems"]]
        document["left_out"] = list(pasted.left_out)
    return document
