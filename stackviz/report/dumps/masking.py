"""Taking out of a dump what names a person or a machine, so that it may be kept: people, hosts, serials, addresses.

What is left can be read as before: lines stay lines, and what stands in for a name is no word that a tool prints.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial

from stackviz.base.private import (
    HOME,
    NETWORK_CARD,
    UUID,
    is_nobody,
    is_telling,
    mentions,
    without_addresses,
    without_homes,
    without_names,
    without_secrets,
)
from stackviz.report.importers.deadline import NEVER, Deadline

__all__ = ["mask_text"]

REDACTED = "[redacted]"  # the word nvidia-smi itself uses
_MOST_NAMES = 20
_MOST_ROUNDS = 4
_LEAST_OF_NCCL = 6  # letters of a machine in a cluster: shorter ones are called h100 or dgx, and cards are too

_PROMPT = re.compile(
    r"^([ \t]{0,8}(?:[>|][ \t]{0,4}){0,3}(?:\([^()\n]{1,40}\)\s{1,2}){0,2}\[?)"
    r"([A-Za-z_][\w.-]{0,62})@([A-Za-z0-9][\w.-]{0,62})(?=(?::|[ ~])[^\n]{0,200}?[$#%>](?:\s|$)| MINGW\d\d)",
    re.MULTILINE,
)
_UNAME = re.compile(
    r"\b((?:Linux|Darwin) )(?!release\b|version\b|kernel\b)([A-Za-z0-9][\w.-]{0,62})(?= \d+\.\d+\.\d+\S* )"
)
_NAMED = re.compile(
    r"(?i)((?:\b(?:computer|host|node|user|logged[ -]in user|full)[ _-]?name|\bHOSTNAME|\bUSER(?:NAME)?|\bLOGNAME)"
    r"[\"']?[ \t]{0,30}[:=][ \t]{0,10}[\"']?)([^\s\"',<>\[\]~][^\"\n,<>]{0,80})"
)
_VARIABLE = re.compile(
    r"((?<![A-Za-z])(?:USER(?:NAME|DOMAIN)?|LOGNAME|HOST(?:NAME)?|NODENAME|MASTER_ADDR|COMPUTERNAME)=[\"']?)"
    r"([^\s\"',;:<>\[\]~=][^\s\"',;:<>]{0,80})"
)
_CLOUD_HOST = re.compile(r"\bip-\d{1,3}(?:-\d{1,3}){3}(?:\.[\w-]{1,60}){0,5}")
_SERVER = re.compile(
    r"(https?://|(?<!\S)--host(?:=|[ \t]{1,8})|(?<![\w.])[\"']?host[\"']?(?:=|: {0,2})[\"'])"
    r"([A-Za-z][A-Za-z0-9-]{0,62}(?:\.(?:local|lan|internal|home|corp|intranet))?)(?=[\s:/\"',)\]}]|$)"
)
"""A machine by its own name: in an address, as the option of a command, as a setting. Names of the web have a dot."""
_NCCL_HOST = re.compile(
    r"(?<![\w.-])[A-Za-z0-9][\w.-]{0,62}(?=:\d{1,8}:\d{1,8} (?:\[\d{1,3}\] (?:[^\s\[]\S{0,120} ){0,2})?NCCL "
    r"|: Test (?:(?:NCCL|CUDA) failure|timeout) | pid \d{1,9}: Test failure )"
    r"|(?<= remote peer )[A-Za-z0-9][\w.-]{0,62}(?=<\d)"
)
_RANK_HOST = re.compile(r"(\bPid {1,8}\d{1,9} on {1,80})(\S{1,200})(?= device )")
_NVBANDWIDTH_HOST = re.compile(
    r"(\bDriver Version: [\d.]{3,20}[ \t\r]{0,8}\n[ \t\r>|]{0,40}\n[ \t>|]{0,40}"
    r"|\([0-9a-fA-F:.]{6,20}\): \(|\bProcess {1,8}\d{1,6} \(|\bmore processes than GPUs on )"
    r"[A-Za-z0-9][\w.-]{0,62}(?=[ \t\r]{0,8}\n[ \t>|]{0,40}Device \d|\)|\. Please )"
)
_LAUNCH = re.compile(r"^[^\n]{0,100}\b(?:mpirun|mpiexec|srun) [^\n]{0,1000}", re.MULTILINE)
_LAUNCHED_ON = re.compile(r"([ \t](?:-H|-w|--?hosts?|--nodelist)(?:[ \t]{1,8}|=))([^\s\[\"';|&-][^\s\"';|&]{0,400})")
_SSH_KEY = re.compile(r"(\b(?:ssh|ecdsa)-[\w-]{2,30} [A-Za-z0-9+/=]{16,2000})( \S{1,100})?")
_SYSLOG = re.compile(
    r"^((?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT[\d:.]{8,20}(?:Z|[+-][\d:]{4,5})) )"
    r"([\w.-]{1,63})(?= \S{1,60}:)",
    re.MULTILINE,
)
_SERIAL = re.compile(
    r"(?i)(\b(?:serial(?:[ _-]?(?:number|no))?|provisioning[ _]udid|unique[ _]id|asset[ _]tag"
    r"|serial[ ]?\#|S/N|(?-i:\bSN)|IOPlatformSerialNumber)"
    r"(?:[ \t]?\([\w ]{1,30}\))?[\"']?[ \t]{0,40}[:=][ \t]{0,10}[\"']?)(?!\[redacted\])([^\"'\n,<\s][^\"'\n,<]{0,400})"
)
_SERIAL_ELEMENT = re.compile(r"(?i)(<[\w-]{0,20}serial[\w-]{0,20}>)([^<\n]{1,80})(?=</)")
_UDID = re.compile(r"\b[0-9A-Fa-f]{8}-[0-9A-Fa-f]{16}\b|\bGPU-[0-9A-Fa-f]{16}\b")
_CISCO_CARD = re.compile(r"\b(?=[0-9.]{0,14}[a-f])[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}\b", re.IGNORECASE)
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}[@＠][A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5}")
_DOES_NOT_TELL = frozenset({"n/a", "[n/a]", "none", "0", "unknown", "not specified", "not supported", "disabled"})
_SERIAL_COLUMNS = frozenset({"serial", "gpu_serial", "serial number"})
_PACKAGE_LINE = re.compile(
    r"\[(?:pip3?|conda)\]|\bversion\b|\b(?:nvidia|cuda|cudnn|cublas|nccl|torch|tensorrt|mkl|rocm|intel)[\w-]{0,60}\s{1,60}\d",
    re.IGNORECASE,
)
"""A line of a list of packages: four numbers with dots are a version there."""


def mask_text(text: str, deadline: Deadline = NEVER) -> str:
    """The text without user and host names, mail and network addresses, serial numbers, UUIDs, tokens.

    Masking what is masked changes nothing; the number of lines stays. Raises DeadlinePassed, and nothing else: a text
    that is masked by half is not given out.
    """
    for _round in range(_MOST_ROUNDS):
        masked = _masked(text, deadline)
        if masked == text:
            break
        text = masked
    return text


def _masked(text: str, deadline: Deadline) -> str:
    names = dict(_names(text))
    for words, step in _STEPS:
        deadline.check()
        if not words or mentions(text, words):
            text = step(text)
    text = "\n".join(_without_addresses(line, deadline) for line in _without_serial_column(text.split("\n")))
    deadline.check()
    return without_names(text, names)


def _named(text: str) -> str:
    return _VARIABLE.sub(_without_name, _NAMED.sub(_without_name, text))


def _identifiers(text: str) -> str:
    text = _UDID.sub(REDACTED, UUID.sub(REDACTED, text))
    return NETWORK_CARD.sub(REDACTED, text)


def _names(text: str) -> Iterator[tuple[str, str]]:
    """People and hosts that the text names in prompts, folders, by `uname` and NCCL: masked wherever they stand."""
    names = {match[2]: "user" for match in _PROMPT.finditer(text)}
    names |= {match[1]: "user" for match in HOME.finditer(text)}
    names |= {match[3]: "host" for match in _PROMPT.finditer(text)}
    names |= {match[2]: "host" for match in _UNAME.finditer(text)}
    of_nccl = {match[2] for match in _RANK_HOST.finditer(text)} | {match[0] for match in _NCCL_HOST.finditer(text)}
    names |= {name: "host" for name in of_nccl if len(name) >= _LEAST_OF_NCCL}
    telling = [(name, stand_in) for name, stand_in in names.items() if is_telling(name)]
    yield from sorted(telling, key=lambda item: len(item[0]), reverse=True)[:_MOST_NAMES]


def _without_name(match: re.Match[str]) -> str:
    name = match[2].strip().lower()
    is_plain = is_nobody(name) or name in _DOES_NOT_TELL
    return match[0] if is_plain else f"{match[1]}{REDACTED}"


def _without_server(match: re.Match[str]) -> str:
    return match[0] if is_nobody(match[2]) else f"{match[1]}host"


def _without_launched_hosts(text: str) -> str:
    return _LAUNCH.sub(lambda line: _LAUNCHED_ON.sub(_without_name, line[0]), text)


def _without_serial(match: re.Match[str]) -> str:
    is_serial = match[2].strip().lower() not in _DOES_NOT_TELL
    return f"{match[1]}{REDACTED}" if is_serial else match[0]


def _without_serial_column(lines: list[str]) -> Iterator[str]:
    """`nvidia-smi --query-gpu=serial,... --format=csv`: the column of that name, in the lines below its header."""
    if not any("serial" in line for line in lines):
        yield from lines
        return
    columns: list[int] = []
    width = 0
    for line in lines:
        cells = line.split(",") if "," in line and (columns or "serial" in line) else []
        named = [column for column, cell in enumerate(cells) if cell.strip().lower() in _SERIAL_COLUMNS]
        if named:
            columns, width = named, len(cells)
        elif columns and len(cells) == width:
            for column in columns:
                cells[column] = _masked_cell(cells[column])
            line = ",".join(cells)  # noqa: PLW2901
        elif columns and line.strip():
            columns = []
        yield line


def _masked_cell(cell: str) -> str:
    value = cell.strip().strip('"')
    return cell.replace(value, REDACTED) if value and value.lower() not in _DOES_NOT_TELL else cell


def _without_addresses(line: str, deadline: Deadline) -> str:
    has_dots = line.count(".") >= 3
    if not has_dots and line.count(":") < 2:
        return line
    is_version = not has_dots or bool(_PACKAGE_LINE.search(line))
    return without_addresses(line, REDACTED, is_version=is_version, go_on=deadline.check)


_STEPS: tuple[tuple[tuple[str, ...], Callable[[str], str]], ...] = (
    ((), lambda text: without_secrets(text, REDACTED)),
    (("://", "host"), partial(_SERVER.sub, _without_server)),
    (("@",), partial(_PROMPT.sub, r"\1user@host")),
    (("linux ", "darwin "), partial(_UNAME.sub, r"\1host")),
    (("name", "user", "host", "master_addr"), _named),
    (("ssh-", "ecdsa-"), partial(_SSH_KEY.sub, REDACTED)),
    (("ip-",), partial(_CLOUD_HOST.sub, "host")),
    (("nccl", ": test ", " failure "), partial(_NCCL_HOST.sub, "host")),
    ((" device ",), partial(_RANK_HOST.sub, r"\1host")),
    (("mpirun", "mpiexec", "srun"), _without_launched_hosts),
    (("nvbandwidth",), partial(_NVBANDWIDTH_HOST.sub, r"\1host")),
    ((), partial(_SYSLOG.sub, r"\1host")),
    (("serial", "udid", "unique", "asset", "s/n", "sn"), partial(_SERIAL.sub, _without_serial)),
    (("serial",), partial(_SERIAL_ELEMENT.sub, _without_serial)),
    ((), without_homes),
    (("-", ":"), _identifiers),
    ((".",), partial(_CISCO_CARD.sub, REDACTED)),
    (("@", "＠"), partial(_MAIL.sub, REDACTED)),
)
"""What is masked before addresses, in this order: what one step masks, the next ones take for masked. A text that has
none of the words, in lower case, has nothing for that step; (): it is always taken."""
