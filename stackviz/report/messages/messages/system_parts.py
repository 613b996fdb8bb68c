"""Parts of the system that a program loads: shared libraries, FFmpeg, an image for this processor."""

from stackviz.report.messages.commands import COLLECT_ENV
from stackviz.report.messages.messages.extensions import OTHER_TORCH
from stackviz.report.messages.symptom import Cause, Symptom

SYMPTOMS = (
    Symptom(
        key="extension-library",
        message="RuntimeError: Could not load libtorchcodec. Likely causes: 1. FFmpeg is not properly installed",
        patterns=(
            r"Could not load (?P<detail>libtorchcodec\w{0,12})",
            r"(?P<detail>TorchCodec) is required for",
            r"(?:libav\w{4,9}\.(?:so\.\d{1,3}|\d{1,3}\.dylib)): cannot open shared object",
            r"Couldn't find (?P<detail>ffmpeg) or avconv",
        ),
        anchors=("libtorchcodec", "torchcodec is required", "libav", "find ffmpeg"),
        component="pytorch",
        meaning="TorchCodec decodes with the libraries of FFmpeg and loads the first of them that fits.",
        causes=(
            Cause(
                text="FFmpeg's shared libraries are missing, or of a release that this TorchCodec does not take.",
                sign="ffmpeg cannot be run, or is a release outside of 4 to 8.",
                remedy="conda install -c conda-forge ffmpeg; or sudo apt install ffmpeg; on a Mac: brew install ffmpeg",
            ),
            OTHER_TORCH,
        ),
        ask="python -m pip list",
        source_title="TorchCodec, README: installing",
        source_url="https://github.com/meta-pytorch/torchcodec#installing-torchcodec",
    ),
    Symptom(
        key="system-library-missing",
        message="ImportError: libGL.so.1: cannot open shared object file: No such file or directory",
        patterns=(
            (
                r"(?P<detail>lib(?!cuda|cudart|cublas|cufft|curand|cusolver|cusparse|nvrtc|nccl|cupti|cudnn|nvidia|torch"
                r"|av|bitsandbytes|hip|amd|roc|MIOpen|nvinfer|tpu|ze_)[A-Za-z][\w+-]{0,40}\.so(?:\.\d{1,4}){0,3}): "
                r"cannot open shared object file"
            ),
            r"Library not loaded: (?:\S{0,120}/)?(?P<detail>[\w+.-]{1,60}\.dylib)",
        ),
        anchors=("cannot open shared object", "library not loaded"),
        component="linux",
        is_general=True,
        meaning="A library of the system is missing, on which a Python package depends: no part of the GPU's software.",
        causes=(
            Cause(
                text="The package of the distribution is not installed; images leave it out.",
                sign="ldconfig -p does not list the file of the message.",
                remedy=(
                    "Install it: apt-file search with the name of the file, or dnf provides, names the package (libgl1 "
                    "for libGL.so.1, libsndfile1, libglib2.0-0, libgomp1, ffmpeg)."
                ),
                only_on=("linux",),
            ),
            Cause(
                text="It was installed for the other processor, by another Homebrew, or not at all.",
                sign="file with its path prints another architecture.",
                remedy="brew install the library for arm64, and make the environment with a Python of the same.",
                only_on=("mac",),
            ),
        ),
        ask=COLLECT_ENV,
        source_title="ld.so(8)",
        source_url="https://man7.org/linux/man-pages/man8/ld.so.8.html",
    ),
    Symptom(
        key="image-not-for-this",
        message="docker: Error response from daemon: manifest for nvidia/cuda:13.1-devel-ubuntu24.04 not found",
        patterns=(
            r"manifest for (?P<detail>\S{3,120}) not found",
            r"no matching manifest for (?P<detail>[\w/]{3,40})",
            r"image's platform \((?P<detail>[\w/]{3,40})\) does not match the detected host platform",
            r"exec (?P<detail>/\S{1,80}): exec format error",
            r"(?:pull access denied for|failed to resolve reference) \"?(?P<detail>[\w./:-]{3,120})",
        ),
        anchors=(
            "manifest for",
            "image's platform",
            "exec format error",
            "pull access denied",
            "failed to resolve reference",
        ),
        component="linux",
        meaning="The registry has no such image for this processor, or not under this name.",
        causes=(
            Cause(
                text="The tag does not exist: not every CUDA version is published for every distribution.",
                sign="The page of the image lists no such tag.",
                remedy="Take a tag from its list.",
            ),
            Cause(
                text="The image is for another processor.",
                sign="The processor is aarch64, and the image is for amd64 only, or the other way round.",
                remedy="Take an image for this processor; for Jetson and GH200 those of NGC.",
                favoured_by=("linux-arm", "jetson", "apple-silicon"),
            ),
        ),
        ask="docker info",
        source_title="Docker, multi-platform images",
        source_url="https://docs.docker.com/build/building/multi-platform/",
    ),
)
