"""The packages of a Linux driver do not install, or their module is not built for the kernel that runs."""

from stackviz.report.messages.commands import DKMS_STATUS, NVIDIA_SMI
from stackviz.report.messages.symptom import Cause, Symptom

_DKMS_TITLE = "dkms(8)"
_DKMS_URL = "https://github.com/dell/dkms"
_APT_TITLE = "Ubuntu Server, NVIDIA drivers installation"
_APT_URL = "https://documentation.ubuntu.com/server/how-to/graphics/install-nvidia-drivers/"

SYMPTOMS = (
    Symptom(
        key="dkms-build-failed",
        message="Error! Bad return status for module build on kernel: 6.17.0-20-generic (x86_64)",
        patterns=(
            r"dkms (?:install|build|autoinstall)[^\n]{0,80}(?:failed|exited)",
            r"module build exited with \d{1,3}",
            r"kernel headers for this kernel do not seem to be installed",
            r'An error occurred while performing the step: "[^"\n]{3,60}"',
            r"/lib/modules/(?P<detail>[\w.+-]{3,60})/build: No such file",
            r"could not open directory /lib/modules/(?P<detail>[\w.+-]{3,60})",
            r"Bad return status for module build on kernel: (?P<detail>[\w.+-]{3,60})",
            r"kernel headers for kernel (?P<detail>[\w.+-]{3,60}) cannot be found",
            r"Unable to find the kernel source tree for the currently running kernel",
            r"post-installation script subprocess returned error exit status 1[01]",
            (
                r"(?:Building|An error occurred while performing the step)[^\n]{0,60}(?:kernel modules"
                r"|module)[^\n]{0,40}failed"
            ),
            r"The kernel module failed to (?:load|build)",
            r"kernel header file '[^'\n]{1,120}' does not exist",
            r"Could not locate dkms\.conf file",
            r"(?:akmods|dkms|kmod-nvidia|nvidia-kmod)[^\n]{0,60}\[?FAILED",
            r"Unable to build the (?P<detail>nvidia[\w-]{0,10}) kernel module",
        ),
        anchors=(
            "dkms install",
            "dkms build",
            "dkms autoinstall",
            "module build exited",
            "kernel headers for this kernel",
            "/build: no such file",
            "open directory /lib/modules",
            "bad return status for",
            "kernel headers for kernel",
            "kernel source tree for",
            "error exit status 1",
            "while performing the step",
            "the kernel module failed",
            "kernel header file",
            "load the kernel module",
            "akmods",
            "dkms:",
            "nvidia-kmod",
            "kmod-nvidia",
            "locate dkms.conf",
            "unable to build the",
        ),
        component="nvidia-driver",
        meaning="The driver's module is built on this machine for each kernel, and that failed for the kernel named.",
        causes=(
            Cause(
                text="The headers of that kernel are not installed.",
                sign="The folder build in /lib/modules of that kernel is missing.",
                remedy=(
                    "Ubuntu and Debian: sudo apt install linux-headers-$(uname -r), then sudo dkms autoinstall. Fedora "
                    "and Rocky: sudo dnf install kernel-devel-$(uname -r), then the same."
                ),
            ),
            Cause(
                text="The kernel is newer than this release of the driver builds with.",
                sign="/var/lib/dkms/*/*/build/make.log ends with an error of the compiler.",
                remedy="Install a newer release of the driver for this card, or boot the kernel before.",
            ),
            Cause(
                text="The kernel was built with another compiler than the one here.",
                sign="make.log says that the compiler differs, or names an unknown option.",
                remedy="Install the compiler that /proc/version names.",
            ),
        ),
        ask=DKMS_STATUS,
        source_title=_DKMS_TITLE,
        source_url=_DKMS_URL,
    ),
    Symptom(
        key="apt-held",
        message="E: Unable to correct problems, you have held broken packages.",
        patterns=(
            r"you have held broken packages",
            (
                r"(?:have|with) unmet dependencies ?:?[\s\S]{0,80}?(?P<detail>(?:nvidia|cuda|libnvidia|libcud|rocm"
                r"|amdgpu)[\w.-]{0,40})"
            ),
            (
                r"(?P<detail>(?:nvidia|cuda|libnvidia|libcud|rocm|amdgpu)[\w.-]{0,40})[^\n]{0,20}: (?:Depends|Breaks"
                r"|Conflicts): "
            ),
            r"trying to overwrite '[^'\n]{1,120}', which is also in package (?P<detail>[\w.+-]{1,60})",
            r"(?P<detail>(?:nvidia|cuda|rocm|amdgpu)[\w.-]{0,60}) (?:requires|conflicts with) [^\n]{1,80}",
            r"installing (?P<detail>\S{3,40}) (?:\(\S{1,40}\) )?breaks dependency",
            r"dependency problems - leaving unconfigured",
            r"Sub-process /usr/bin/dpkg returned an error code",
            r"dpkg: error processing package (?P<detail>(?:nvidia|cuda|libnvidia|rocm|amdgpu)[\w.-]{0,40})",
        ),
        anchors=(
            "held broken packages",
            "unmet dependencies",
            ": depends:",
            ": breaks:",
            ": conflicts:",
            "trying to overwrite",
            "error processing package",
            "but none of the providers",
            "conflicts with",
            "leaving unconfigured",
            "breaks dependency",
            "dpkg returned an error",
        ),
        component="nvidia-driver",
        meaning=(
            "The driver's packages come from two places (the distribution and the vendor), or of two branches, and "
            "collide."
        ),
        causes=(
            Cause(
                text="Packages of another branch or of the vendor's repository are left over.",
                sign="The list of installed packages has two versions of nvidia.",
                remedy=(
                    "Remove all of them, then install from one place: sudo apt purge '*nvidia*' 'libcuda*', then sudo "
                    "ubuntu-drivers install (the screen may be black until the new driver is there)"
                ),
            ),
            Cause(
                text="A package is held at its version.",
                sign="apt-mark showhold lists it.",
                remedy="sudo apt-mark unhold with its name, then the installation again.",
            ),
        ),
        ask=DKMS_STATUS,
        is_general=True,
        source_title=_APT_TITLE,
        source_url=_APT_URL,
    ),
    Symptom(
        key="apt-not-found",
        message="E: Unable to locate package nvidia-driver-580",
        patterns=(
            r"Unable to find a match: [^\n]{0,60}?(?P<detail>(?:nvidia|cuda|rocm|amdgpu|kmod)[\w.-]{0,40})",
            r"Unable to locate package (?P<detail>(?:nvidia|cuda|rocm|amdgpu|libcud|hip)[\w.-]{0,40})",
            r"No match for argument: (?P<detail>(?:nvidia|cuda|rocm|amdgpu|akmod)[\w.-]{0,40})",
            r"Package '(?P<detail>(?:nvidia|cuda|rocm|amdgpu)[\w.-]{0,40})' has no installation candidate",
        ),
        anchors=(
            "unable to find a match",
            "unable to locate package",
            "no match for argument",
            "no installation candidate",
        ),
        component="nvidia-driver",
        meaning="No repository that this system knows has the package.",
        causes=(
            Cause(
                text="The list of packages is old, or the part of the repository with drivers is off.",
                sign="sudo apt update was not run; contrib and non-free (Debian) or restricted (Ubuntu) is missing.",
                remedy="Enable it, then: sudo apt update",
            ),
            Cause(
                text="This release of the distribution has other names or another branch.",
                sign="apt search nvidia-driver lists other numbers.",
                remedy="Take the newest that it lists, or add NVIDIA's repository for this release.",
            ),
        ),
        ask="cat /etc/os-release",
        source_title=_APT_TITLE,
        source_url=_APT_URL,
    ),
    Symptom(
        key="installer-x-server",
        message="ERROR: You appear to be running an X server; please exit X before installing.",
        patterns=(
            r"appear to be running an X server",
            r"The Nouveau kernel driver is currently in use",
            (
                r"An NVIDIA kernel module '(?P<detail>nvidia[\w-]{0,10})' appears (?:to be )?(?:already )?(?:loaded"
                r"|to already be loaded)"
            ),
        ),
        anchors=("running an x server", "nouveau kernel driver is", "an nvidia kernel module"),
        component="nvidia-driver",
        meaning="NVIDIA's installer refuses, because another driver or the desktop uses the card.",
        causes=(
            Cause(
                text="The desktop runs on the card.",
                sign="The message names X, or modules that are loaded.",
                remedy=(
                    "Better install the driver as a package of the distribution; else end the desktop first "
                    "(multi-user.target)."
                ),
            ),
            Cause(
                text="Nouveau holds the card.",
                sign="lsmod | grep nouveau prints a line.",
                remedy=(
                    "The distribution's package turns it off by itself; by hand: blacklist it, rebuild the initramfs, "
                    "reboot."
                ),
            ),
        ),
        ask="lsmod",
        source_title=_APT_TITLE,
        source_url=_APT_URL,
    ),
    Symptom(
        key="apt-repository",
        message="E: The repository 'https://developer.download.nvidia.com/compute/cuda/repos InRelease' is not signed.",
        patterns=(
            r"signatures couldn't be verified because the public key is not available",
            (
                r"The repository '(?P<detail>[^'\n]{8,160})' (?:is not signed|is no longer signed"
                r"|does not have a Release file)"
            ),
            r"NO_PUBKEY (?P<detail>[0-9A-F]{8,16})",
            r"Could not get lock /var/lib/(?P<detail>dpkg|apt)",
            r"Conflicting values set for option Signed-By",
            r"dpkg was interrupted, you must manually run",
            r"Public key for (?P<detail>[\w.-]{3,80}\.rpm) is not installed",
        ),
        anchors=(
            "signatures couldn't be",
            "the repository '",
            "no_pubkey",
            "could not get lock",
            "option signed-by",
            "dpkg was interrupted",
            "public key for",
        ),
        component="linux",
        severity="warning",
        meaning="The package manager refuses to work before anything is installed: no driver is at fault.",
        causes=(
            Cause(
                text="Another installation runs: the system updates itself in the background.",
                sign="The message names a lock and the process that has it.",
                remedy="Wait until it ends; after a broken one, dpkg --configure -a as root.",
            ),
            Cause(
                text="The key of the repository is missing or was replaced.",
                sign="The message says not signed, NO_PUBKEY or Signed-By.",
                remedy="Install the vendor's package of keys (cuda-keyring for NVIDIA), then: sudo apt update",
            ),
            Cause(
                text="The repository is of another release of the distribution.",
                sign="Its address names another release than /etc/os-release.",
                remedy="Replace it by the one of this release.",
            ),
        ),
        ask="cat /etc/os-release",
        source_title=_APT_TITLE,
        source_url=_APT_URL,
    ),
    Symptom(
        key="windows-driver-installer",
        message="NVIDIA installer cannot continue: This driver is not compatible with this version of Windows.",
        patterns=(
            r"driver is not compatible with this version of Windows",
            r"could not find compatible graphics hardware",
            r"(?:NVIDIA Installer|NVIDIA installer) (?:cannot continue|failed)",
            r"\(Code (?P<detail>10|12|28|31|37|39|43|45|52)\)",
        ),
        anchors=("this version of windows", "compatible graphics hardware", "nvidia installer", "(code"),
        component="nvidia-driver",
        meaning="Windows or the installer refuses the driver; a code in brackets is the Device Manager's.",
        causes=(
            Cause(
                text="The package is for another generation, another edition (DCH, laptop) or another Windows.",
                sign="The release notes of the package do not list the card.",
                remedy="Take the one that https://www.nvidia.com/drivers names for this card and this Windows.",
            ),
            Cause(
                text="Leftovers of another driver are in the way, or the card does not start (Code 43, 10).",
                sign="The Device Manager shows the code after a reboot too.",
                remedy="Remove the drivers with DDU in safe mode, install again; if Code 43 stays, try another card.",
            ),
            Cause(
                text="The card gets no resources: Code 12.",
                sign="The code is 12.",
                remedy="Turn on Above 4G decoding in the firmware.",
            ),
        ),
        ask=NVIDIA_SMI,
        states={"os.name": "Windows"},
        source_title="Microsoft, error codes in Device Manager",
        source_url=(
            "https://support.microsoft.com/en-us/topic/"
            "error-codes-in-device-manager-in-windows-524e9e89-4dee-8883-0afa-6bca0456324e"
        ),
    ),
)
