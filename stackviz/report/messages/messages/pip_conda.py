"""pip, uv and conda stop on the way: another Python, packages that collide, network, disk, paths of Windows."""

from stackviz.report.messages.symptom import Cause, Symptom

_PIP_CHECK = "python -m pip check"
_PIP = "pip, dependency resolution"
_PIP_URL = "https://pip.pypa.io/en/stable/topics/dependency-resolution/"

SYMPTOMS = (
    Symptom(
        key="requires-other-python",
        message="ERROR: Package 'vllm' requires a different Python: 3.14.0 not in '<3.14,>=3.10'",
        patterns=(
            r"Package '(?P<detail>[\w.-]{1,60})' requires a different Python: (?P<python__version>3\.\d{1,2}\.\d{1,2})",
            (
                r"requires Python (?P<detail>[<>=!~\d., ]{3,40}) but the running Python is "
                r"(?P<python__version>3\.\d{1,2}\.\d{1,2})"
            ),
            r"Ignored the following versions that require a different python version",
            (
                r"the (?:current|requested) Python version \([^)\n]{1,20}\) does not "
                r"satisfy Python(?P<detail>[<>=!~\d.,]{2,30})"
            ),
        ),
        anchors=(
            "requires a different python",
            "requires python",
            "require a different python",
            "does not satisfy python",
        ),
        component="python",
        meaning="The release takes other versions of Python than the one that runs; the message names which.",
        causes=(
            Cause(
                text="Python is newer than the release.",
                sign="The version in the message is above the range.",
                remedy=(
                    "Make an environment with a Python of the range: uv venv --python 3.12, or conda create python=3.12"
                ),
            ),
            Cause(
                text="Python is older than the release takes.",
                sign="The version in the message is below the range.",
                remedy="Use a newer Python, or the last release that takes this one.",
            ),
        ),
        ask="python -VV",
        source_title="Python Packaging User Guide, requires-python",
        source_url="https://packaging.python.org/en/latest/guides/dropping-older-python-versions/",
    ),
    Symptom(
        key="packages-collide",
        message=(
            "ERROR: ResolutionImpossible: for help visit https://pip.pypa.io/en/latest/topics/dependency-resolution/"
        ),
        patterns=(
            r"Could not solve for environment specs",
            r"Failed to resolve dependencies",
            r"ClobberError",
            r"ResolutionImpossible",
            (
                r"(?<![\w.-])(?P<detail>[\w.-]{1,60} \d[\w.+]{0,20}) requires [\w.-]{1,60}[<>=!~][^,\n]{1,60}, but "
                r"you have [^\n]{1,60} which is incompatible"
            ),
            r"No solution found when resolving",
            r"your requirements are unsatisfiable",
            r"Cannot install (?P<detail>[^\n]{1,120}) because these package versions have conflicting dependencies",
            r"(?:conflicting dependencies|dependency conflicts?)\b",
        ),
        anchors=(
            "solve for environment",
            "failed to resolve dep",
            "clobbererror",
            "resolutionimpossible",
            "which is incompatible",
            "no solution found",
            "are unsatisfiable",
            "conflicting dependencies",
            "dependency conflict",
        ),
        component="python",
        severity="warning",
        is_general=True,
        meaning="Two packages want different versions of a third; the lines around the message name all three.",
        causes=(
            Cause(
                text="A package pins the torch that it was built for, and another torch is installed or asked for.",
                sign="The line names torch with == and another version behind you have.",
                remedy="Install both in one command in a new environment, and let the package choose its torch.",
            ),
            Cause(
                text="A package was made for another Python or another system.",
                sign="The lines say has no wheels with a matching tag.",
                remedy="Use the Python that the tags name.",
            ),
        ),
        ask=_PIP_CHECK,
        source_title=_PIP,
        source_url=_PIP_URL,
    ),
    Symptom(
        key="install-disk-full",
        message="ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
        patterns=(r"No space left on device", r"There is not enough space on the disk", r"Disk quota exceeded"),
        anchors=("no space left on", "not enough space on", "disk quota exceeded"),
        component="python",
        meaning=(
            "A disk is full: torch with its CUDA libraries needs about 8 GB, and as much in the folder for temporary "
            "files."
        ),
        causes=(
            Cause(
                text="The folder of the environment or of the cache is full.",
                sign="Its disk has less than 10 GB free.",
                remedy="Empty the cache (pip cache purge), or put the environment elsewhere.",
            ),
            Cause(
                text="The folder for temporary files is small, or is memory.",
                sign="It is a tmpfs of a few GB.",
                remedy="export TMPDIR=$HOME/tmp (a folder on a disk with room), then the installation again.",
            ),
            Cause(
                text="Images and build caches of Docker fill the disk.",
                sign="docker system df shows many GB that can be freed.",
                remedy="docker system prune (which deletes stopped containers and unused images)",
                favoured_by=("container",),
            ),
        ),
        ask="df -h",
        source_title="pip, caching",
        source_url="https://pip.pypa.io/en/stable/topics/caching/",
    ),
    Symptom(
        key="install-network",
        message="SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed",
        patterns=(
            r"HTTP (?:error|ERROR|status)[: ](?:code )?(?P<detail>[45]\d\d)[^\n]{0,40}",
            r"TLS handshake timeout|i/o timeout|toomanyrequests|dial tcp: lookup",
            r"CERTIFICATE_VERIFY_FAILED",
            r"(?:ReadTimeoutError|ConnectTimeoutError|NewConnectionError|IncompleteRead|ProtocolError)\b[^\n]{0,80}",
            r"Could not fetch URL \S{1,120}",
            r"CondaHTTPError|CondaSSLError",
            r"error sending request for url",
            r"(?:Request failed after \d{1,2} retries|operation timed out|Read timed out|Max retries exceeded)",
            r"Failed to (?:download|fetch)[^\n]{0,40}(?:distribution|wheel|metadata|`?https?:)[^\n]{0,40}",
            r"(?:Connection (?:reset|refused|aborted)[^\n]{0,20}|ProxyError|Temporary failure in name resolution)",
        ),
        anchors=(
            "http error",
            "http status",
            "tls handshake",
            "i/o timeout",
            "toomanyrequests",
            "dial tcp: lookup",
            "certificate_verify",
            "readtimeouterror",
            "connecttimeouterror",
            "newconnectionerror",
            "incompleteread",
            "protocolerror",
            "could not fetch url",
            "condahttperror",
            "condasslerror",
            "error sending request",
            "request failed after",
            "timed out",
            "max retries exceeded",
            "failed to download",
            "failed to fetch",
            "connection reset",
            "connection refused",
            "connection aborted",
            "proxyerror",
            "in name resolution",
        ),
        component="python",
        severity="warning",
        meaning="The installer does not reach the index: no package is at fault.",
        causes=(
            Cause(
                text="A proxy of the network signs connections with a certificate that Python does not know.",
                sign="A browser on the same machine opens the address.",
                remedy="pip config set global.cert with the file of that certificate, or ask whoever runs the network.",
            ),
            Cause(
                text="The connection is slow or breaks: wheels of torch are larger than 800 MB.",
                sign="The message says timed out or incomplete.",
                remedy="pip install --timeout 300 --retries 10 with the same names.",
            ),
        ),
        ask="python -m pip config list",
        source_title="pip, HTTPS certificates",
        source_url="https://pip.pypa.io/en/stable/topics/https-certificates/",
    ),
    Symptom(
        key="install-hash",
        message="ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.",
        patterns=(
            r"DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE",
            r"Hash mismatch for `?(?P<detail>[\w.=+-]{1,60})",
            r"ChecksumMismatchError",
            r"InvalidArchiveError|CondaVerificationError|SafetyError: The package|BadZipFile|File is not a zip file",
        ),
        anchors=(
            "do not match the hashes",
            "hash mismatch for",
            "checksummismatcherror",
            "invalidarchiveerror",
            "condaverificationerror",
            "safetyerror",
            "badzipfile",
            "not a zip file",
        ),
        component="python",
        meaning=(
            "A file differs from what was expected: the download broke off, or the index has another build of this "
            "version."
        ),
        causes=(
            Cause(
                text="A broken file lies in the cache, or the connection broke off.",
                sign="Got names another hash each time.",
                remedy="Install again with --no-cache-dir.",
            ),
            Cause(
                text="The lock file was made with another index: +cu wheels have other hashes than those of PyPI.",
                sign="The hash stays the same, and the index is another.",
                remedy="Make the lock file again with the index that is used here.",
            ),
        ),
        ask="python -m pip config list",
        source_title="pip, secure installs",
        source_url="https://pip.pypa.io/en/stable/topics/secure-installs/",
    ),
    Symptom(
        key="conda-not-found",
        message="PackagesNotFoundError: The following packages are not available from current channels:",
        patterns=(
            r"UnavailableInvalidChannel",
            r"at least have the virtual package (?P<detail>__\w{3,10})",
            r"CondaToSNonInteractiveError|Terms of Service have not been accepted",
            r"PackagesNotFoundError",
            r"nothing provides (?P<detail>__cuda|__glibc|\w[\w.-]{1,40})[^\n]{0,20}needed by",
            r"Found conflicts! Looking for incompatible packages",
        ),
        anchors=(
            "unavailableinvalid",
            "virtual package __",
            "condatos",
            "terms of service",
            "packagesnotfounderror",
            "nothing provides",
            "found conflicts!",
        ),
        component="python",
        meaning="No channel that conda was asked for has the package for this system, or what it asks of the system.",
        causes=(
            Cause(
                text=(
                    "The machine shows no CUDA (no driver, a login node, a container), so builds for it are ruled out."
                ),
                sign="The message names __cuda; conda info lists no __cuda.",
                remedy="export CONDA_OVERRIDE_CUDA=12.8 (with the version of the machine that will run it)",
            ),
            Cause(
                text="The channel has no such build: PyTorch's own conda channel ended with torch 2.5.",
                sign="A newer torch is asked for with -c pytorch.",
                remedy="Install torch with pip, or pytorch-gpu from conda-forge.",
            ),
        ),
        ask="conda info",
        source_title="conda, virtual packages",
        source_url="https://docs.conda.io/projects/conda/en/stable/user-guide/tasks/manage-virtual.html",
    ),
    Symptom(
        key="windows-long-path",
        message=(
            "HINT: This error might have occurred since this system does not have Windows Long Path support enabled."
        ),
        patterns=(
            r"does not have Windows Long Path support",
            r"\[WinError 206\]",
            r"The filename or extension is too long",
        ),
        anchors=("windows long path", "[winerror 206]", "extension is too long"),
        component="windows",
        meaning="A file of the package has a path longer than 260 characters, which Windows refuses by default.",
        causes=(
            Cause(
                text="Long paths are off.",
                sign="The path of the message is long.",
                remedy=(
                    "In PowerShell as administrator: New-ItemProperty -Path HKLM:\\SYSTEM\\CurrentControlSet\\Control\\"
                    "FileSystem -Name LongPathsEnabled -Value 1 -PropertyType DWORD -Force; or install in C:\\venv"
                ),
            ),
        ),
        ask="python -m pip --version",
        states={"os.name": "Windows"},
        source_title="Microsoft, maximum path length limitation",
        source_url="https://learn.microsoft.com/en-us/windows/win32/fileio/maximum-file-path-limitation",
    ),
    Symptom(
        key="install-not-writable",
        message="ERROR: Could not install packages due to an OSError: [WinError 5] Access is denied",
        patterns=(
            r"\[Errno 13\] Permission denied: '[^'\n]{0,160}(?:site|dist)-packages",
            r"Could not install packages due to an (?:OSError|EnvironmentError): \[(?:WinError (?:5|32)|Errno 13)\]",
            r"\[WinError (?:5|32|1314)\] (?P<detail>[^\n:']{3,80})",
            r"A required privilege is not held by the client",
            r"(?P<detail>EnvironmentNotWritableError)",
            r"Cannot uninstall '?(?P<detail>[\w.-]{1,60})'?",
            r"uninstall-no-record-file",
        ),
        anchors=(
            "[winerror 5]",
            "[winerror 32]",
            "[winerror 1314]",
            "[errno 13]",
            "required privilege is",
            "environmentnotwritableerror",
            "cannot uninstall",
            "no-record-file",
        ),
        component="python",
        severity="warning",
        meaning="A file of the environment cannot be replaced: it is in use, or belongs to somebody else.",
        causes=(
            Cause(
                text="A program that runs has the file open.",
                sign="Another shell, a notebook or the program itself uses this environment.",
                remedy="End it, then install again.",
                favoured_by=("windows",),
            ),
            Cause(
                text="The environment is the system's, or was filled by another installer (conda, apt).",
                sign="The path in the message is outside of your environment.",
                remedy="Make an environment: python -m venv .venv, activate it, and install there.",
            ),
        ),
        ask="python -m pip --version",
        source_title="Python Packaging User Guide, installing in virtual environments",
        source_url="https://packaging.python.org/en/latest/guides/installing-using-pip-and-virtual-environments/",
    ),
    Symptom(
        key="requirement-not-valid",
        message="ERROR: Invalid requirement: 'torch=2.9.1'",
        patterns=(
            r"Could not open requirements file",
            r"CondaValueError: [^\n]{3,80}",
            r"Invalid requirement:? '(?P<detail>[^'\n]{1,80})'",
            r"(?:Expected|No such option|ambiguous option|unexpected argument)[^\n]{0,20} '?(?P<detail>--[\w-]{2,30})",
            r"the following required arguments were not provided",
            r"Failed to parse:? `?(?P<detail>[\w./-]{1,60}\.toml|[\w./-]{1,60}requirements[\w./-]{0,20})",
            r"is not installable\. Neither 'setup\.py' nor 'pyproject\.toml' found",
            r"is not a valid (?:wheel filename|editable requirement|url)",
        ),
        anchors=(
            "open requirements file",
            "condavalueerror",
            "invalid requirement",
            "required arguments were",
            "failed to parse",
            "is not installable",
            "no such option",
            "ambiguous option",
            "unexpected argument",
            "is not a valid",
        ),
        component="python",
        severity="warning",
        meaning="The command itself is not what the installer understands: nothing was installed.",
        causes=(
            Cause(
                text="A sign is missing or doubled: versions have two equal signs, and quotes around < and >.",
                sign="The message repeats the part that it does not take.",
                remedy='Write it without spaces inside: pip install "torch==2.9.1"',
            ),
        ),
        ask="python -m pip --version",
        source_title="Python Packaging User Guide, dependency specifiers",
        source_url="https://packaging.python.org/en/latest/specifications/dependency-specifiers/",
    ),
    Symptom(
        key="environment-not-active",
        message="CondaError: Run 'conda init' before 'conda activate'",
        patterns=(
            r"Failed to spawn: `(?P<detail>[\w.-]{1,40})`",
            r"Run 'conda init' before 'conda activate'",
            r"EnvironmentLocationNotFound|PackageNotInstalledError|EnvironmentNameNotFound",
            r"No virtual environment found",
            r"(?P<detail>pip3?|python3?|conda|mamba|uv|jupyter)(?:: command not found|: not found)",
            r"'(?P<detail>pip3?|python3?|conda|uv)' is not recognized as an internal or external command",
            r"No module named '?(?P<detail>pip|venv|ensurepip)\b",
            r"No (?:suitable )?Python (?:at '|was found|interpreter found|installation found)",
        ),
        anchors=(
            "failed to spawn",
            "conda init",
            "environmentlocationnotfound",
            "packagenotinstallederror",
            "environmentnamenotfound",
            "no virtual environment",
            ": command not found",
            ": not found",
            "is not recognized as",
            "no module named",
            "no python",
            "no suitable python",
            "python was not found",
            "no interpreter",
        ),
        component="python",
        severity="warning",
        meaning="The command runs in no environment, in another one, or in one that no longer exists.",
        causes=(
            Cause(
                text="The environment is not activated in this shell.",
                sign="The prompt shows no name of an environment; which python names another.",
                remedy="Activate it: . .venv/bin/activate, in Windows .venv\\Scripts\\activate, or conda activate",
            ),
            Cause(
                text="It was moved or deleted, or the Python that it was made with is gone.",
                sign="The folder that the message names does not exist.",
                remedy="Make it anew: python -m venv .venv, or uv venv --python 3.12",
            ),
        ),
        ask="python -VV",
        source_title="Python, venv",
        source_url="https://docs.python.org/3/library/venv.html",
    ),
)
