"""JAX, TensorFlow, ONNX Runtime and TensorRT; the statuses of XLA, ONNX Runtime and TensorRT are families."""

from stackviz.report.messages.symptom import Family, table_rows
from stackviz.report.messages.tables import table_symptoms

_WORDINGS = {
    "tensors-on-two-devices": (
        (r"Expected all tensors to be on the same device, but (?:found at least two devices|got)[^\n]{0,60}",),
        ("on the same device",),
    ),
    "jax-backend-failed": (
        (
            r"Unable to initialize backend '(?P<detail>cuda|gpu|METAL|xpu|neuron)'[^\n]{0,200}",
            r"RuntimeError: Unable to initialize backend '(?P<detail>tpu|rocm)'(?!.{0,80}?already in use)",
            r"(?:CUDA|ROCm) backend failed to initialize(?!: (?:Found \w{2,9} version|Unable to load cuDNN))",
            r"Unknown backend:? '(?P<detail>cuda|gpu|rocm)'",
        ),
        ("initialize backend '", "backend failed to", "unknown backend"),
    ),
    "jax-backend-absent": (
        (
            (
                r"(?<!RuntimeError:\s)Unable to initialize backend '(?P<detail>tpu|rocm|plugin|interpreter)'"
                r"(?!.{0,80}?already in use)"
            ),
        ),
        ("initialize backend '",),
    ),
    "xla-dnn": (
        (
            r"DNN library (?:initialization failed|is not found)",
            r"Unable to load cuDNN",
            r"Could not create cudnn handle: \w{5,60}",
            r"Loaded runtime CuDNN library: [\d.]{3,12} but source was compiled with:? [\d.]{3,12}",
            r"Failed to get convolution algorithm",
            r"No algorithm worked",
        ),
        (
            "dnn library",
            "unable to load cudnn",
            "create cudnn handle",
            "convolution algorithm",
            "no algorithm worked",
        ),
    ),
    "jax-versions": (
        (
            r"jaxlib version [\w.]{3,12} is newer than and incompatible with jax version [\w.]{3,12}",
            r"jaxlib is version [\w.]{3,12}, but this version of jax requires version",
            r"JAX plugin \w{3,40} version [\w.]{3,12} is installed, but it is not compatible with the installed jaxlib",
        ),
        ("incompatible with jax", "version of jax requires", "jax plugin"),
    ),
    "jax-cuda-older": (
        (r"Found (?P<detail>\w{3,9}) version \d{4,6}, but JAX was built against",),
        ("jax was built against",),
    ),
    "xla-toolchain": (
        (
            r"ptxas exited with non-zero error code",
            r"Couldn't (?:invoke|get) ptxas",
            r"libdevice not found at",
            r"Can't find libdevice directory",
            r"ptxas too old\. Falling back",
            r"Failed to (?:compile|load) (?:PTX|in-memory CUBIN(?!.{0,60}?CUDA_ERROR))",
        ),
        ("ptxas", "libdevice", "to compile ptx", "to load ptx", "in-memory cubin"),
    ),
    "xla-driver-older": ((r"older than the PTX compiler version",), ("ptx compiler version",)),
    "jax-avx": ((r"jaxlib was built using (?P<detail>AVX\w{0,6}) instructions",), ("jaxlib was built using",)),
    "tpu-in-use": (
        (
            r"(?:Unable to initialize backend 'tpu': \w{3,20}: )?The TPU is already in use by process",
            r"libtpu\.so is already in use",
        ),
        ("already in use",),
    ),
    "tensorflow-jit": (
        (r"not built with CUDA kernel binaries compatible with compute capability (?P<detail>\d{1,2}\.\d)",),
        ("cuda kernel binaries",),
    ),
    "tensorflow-card-too-old": (
        (
            (
                r"Ignoring visible gpu device .{0,160}? with (?:Cuda )?compute capability \d\.\d\. "
                r"The minimum required (?:Cuda |compute )capability is \d\.\d"
            ),
        ),
        ("ignoring visible gpu",),
    ),
    "tensorflow-start-lines": (
        (
            r"TF-TRT Warning: Could not find TensorRT",
            r"successful NUMA node read from SysFS had negative value",
            r"Unable to register \w{3,20} (?:factory|plugin): .{0,80}?computation_placer",
            r"computation placer already registered",
        ),
        ("tf-trt warning", "numa node read from", "computation_placer", "computation placer"),
    ),
    "onnxruntime-provider-missing": (
        (
            r"Specified provider '(?P<detail>\w{3,40})' is not in available provider names",
            r"Unknown Provider Type: (?P<detail>\w{3,40})",
        ),
        ("in available provider names", "unknown provider type"),
    ),
    "onnxruntime-other-provider": (
        (
            r"Failed to create (?P<detail>(?!CUDA)\w{3,30}ExecutionProvider)",
            r"EP Error .{0,240}?(?:Please install|Failed to|when using)",
            (
                r"(?:Failed to load library|Error loading|LoadLibrary failed).{0,240}?"
                r"onnxruntime_providers_(?P<detail>(?!cuda|shared)\w{3,20})\.(?:so|dll)"
            ),
        ),
        ("executionprovider", "onnxruntime_providers_", "ep error"),
    ),
    "onnxruntime-opset": (
        (
            r"support for models stamped with official released onnx opset versions",
            r"Unsupported model IR version: \d{1,3}",
        ),
        ("released onnx opset", "unsupported model ir"),
    ),
    "tensorrt-engine-version": (
        (
            r"engine plan file is (?:not compatible with this version|generated on an incompatible device)",
            r"Serialization assertion .{0,120}? failed",
            r"Version tag does not match",
        ),
        ("engine plan file", "serialization assertion", "version tag does"),
    ),
    "tensorrt-engine-other-card": (
        (r"engine plan file across different models of devices",),
        ("engine plan file across",),
    ),
    "tensorrt-warning": ((r"\[TRT\] \[W\] [^\n]{8,80}",), ("[trt] [w]",)),
    "tensorrt-no-importer": (
        (
            r"No importer registered for op: (?P<detail>\w{1,60})",
            r"could not find plugin:? (?P<detail>\w{1,60})",
            r"Plugin not found, are the plugin name",
        ),
        ("no importer registered", "could not find plugin", "plugin not found"),
    ),
    "tensorrt-card": (
        (r"Target GPU SM (?P<detail>\d{2,3}) is not supported by this TensorRT",),
        ("target gpu sm",),
    ),
    "tensorrt-no-implementation": (
        (r"Could not find any implementation for node",),
        ("implementation for node",),
    ),
    "tensorrt-cuda": (
        (
            r"CUDA initialization failure with error: \d{1,3}",
            r"Error Code \d{1,2}: Cuda (?:Runtime|Driver)",
        ),
        ("cuda initialization failure", "error code"),
    ),
}

_KINDS = table_symptoms("frameworks", _WORDINGS, general=["tensorrt-warning"])
SYMPTOMS = tuple(symptom for symptom in _KINDS.values() if symptom.patterns)


def _family(program: str, patterns: tuple[str, ...], anchors: tuple[str, ...], unlisted: str = "") -> Family:
    codes = (row for row in table_rows("framework_codes") if row["program"] == program)
    return Family(
        patterns=patterns,
        anchors=anchors,
        members={row["code"].lower(): _KINDS[row["key"]] for row in codes},
        unlisted=_KINDS.get(unlisted),
        is_general=True,
    )


FAMILIES = (
    _family("xla", (r"(?:Xla|Jax)RuntimeError: (?P<code>[A-Z_]{5,20}):",), ("runtimeerror:",)),
    _family("onnxruntime", (r"\[ONNXRuntimeError\] : (?P<code>\d{1,2}) : [A-Z_]{2,30}",), ("[onnxruntimeerror]",)),
    _family(
        "tensorrt",
        (
            r"Error Code (?P<code>\d{1,2}): (?!Cuda (?:Runtime|Driver))",
            r"\[TRT\] \[[EF]\] (?!.{0,240}?Error Code \d)(?P<code>[^\n]{8,80})",
        ),
        ("error code", "[trt] ["),
        "tensorrt-failed",
    ),
)
