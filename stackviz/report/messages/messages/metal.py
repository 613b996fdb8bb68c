"""Metal, MLX, llama.cpp on a Mac, and Core ML; the errors of a command buffer are a family."""

from stackviz.report.messages.symptom import Family
from stackviz.report.messages.tables import code_members, table_symptoms

_BUFFER = r"(?:command buffer (?:\d{1,4} )?(?:execution )?(?:failed|exited)(?: with (?:error )?status(?: \d)?)?)"

_WORDINGS = {
    "metal-language-version": (
        (
            r"using language version (?P<detail>\d\.\d) which is not supported on this OS",
            r"invalid value '(?:macos-|osx-)?metal(?P<detail>\d\.\d)' in '-std=",
        ),
        ("using language version", "'-std="),
    ),
    "metallib-missing": (
        (
            r"Failed to load the (?:default )?metallib(?![\s\S]{0,200}?language version)",
            r"Library not loaded: .{0,80}?libmlx\.",
            r"dlopen\([^\n]{0,160}?mlx[^\n]{0,200}?Symbol not found",
        ),
        ("failed to load the", "library not loaded", "symbol not found"),
    ),
    "metal-no-device": (
        (
            r"No Metal device available",
            r"No Metal back-end",
            r"without metal backend",
            r"MTLCreateSystemDefaultDevice(?:\(\))? (?:returned|is) nil",
        ),
        ("no metal", "without metal backend", "mtlcreatesystemdefaultdevice"),
    ),
    "metal-compiler-missing": (
        (r"unable to find utility \"metal(?:lib)?\"", r"missing Metal Toolchain"),
        ('find utility "metal', "missing metal toolchain"),
    ),
    "mlx-wired-limit": ((r"\[metal::set_wired_limit\]",), ("metal::set_wired_limit",)),
    "mlx-refused": (
        (
            (
                r"\[(?P<detail>(?:(?!metal::Device\b)(?:metal|Metal|cuda)::\w{2,40}"
                r"|\w{2,40}::eval_gpu|Event::Event|Fence::\w{2,20}|metal_kernel|Compiled::\w{2,20}))\] "
            ),
            r"(?:ValueError|RuntimeError|_argument|_error): (?-i:\[(?P<detail>[a-z][a-z_0-9]{2,40})\] [A-Z])",
        ),
        (
            "error: [",
            "argument: [",
            "[metal::",
            "[cuda::",
            "::eval_gpu]",
            "[event::event]",
            "[fence::",
            "[metal_kernel]",
            "[compiled::",
        ),
    ),
    "metal-kernel-missing": (
        (
            r"\[metal::Device\] Unable to load (?:kernel|function) (?P<detail>\w{1,120})",
            r"\[metal::Device\] Unable to build metal library from source(?![\s\S]{0,80}?'-std=)",
        ),
        ("[metal::device] unable",),
    ),
    "ggml-metal-build": (
        (
            r"ggml_metal_\w{3,40}: error: (?:failed to compile|failed to create|could not|Error Domain=MTLLibrary)",
            r"MTLLibraryErrorDomain Code=3",
            r"ggml_metal_\w{3,40}: (?:error: )?(?:failed to (?:initialize|allocate|create|load)|load pipeline error)",
        ),
        ("ggml_metal_", "mtllibraryerrordomain"),
    ),
    "mps-type": (
        (
            r"Trying to convert (?P<detail>\w{3,20}) to the MPS backend but it does not have support for that dtype",
            r"(?P<detail>BFloat16|bfloat16) is (?:not supported on MPS|only supported on MacOS 14)",
            r"(?<!CUDA\s)MPS (?:device )?does not support (?P<detail>\w{3,20}) (?:ops|dtype|data ?type)",
            r"not supported (?:on|by|for|in) (?:the )?MPS",
            r"\bMPS: [Uu]nsupported [^\n]{3,60}",
            r"does not support input type '(?P<detail>\w{3,20})' in MPS backend",
            r"(?<!CUDA\s)(?<!NVIDIA\s)\bMPS\b[^\n]{0,40}?(?:not (?:support|implement)|unsupported)",
        ),
        (
            "to the mps backend",
            "on mps",
            "macos 14",
            "mps does",
            "mps device",
            "in mps",
            "mps backend",
            "mps: unsupported",
        ),
    ),
    "mps-size": (
        (
            r"total bytes of NDArray > 2\*\*32",
            r"MPSGr?aph does not support tensor dims larger than INT_MAX",
            r"Output channels > 65536 not supported at the MPS device",
            r"MPS(?:NDArray|Graph|Kernel|NDArrayMatrixMultiplication)\w{0,40}\.mm:\d{1,5}: failed assertion",
            r"Invalid buffer size: [\d.]{1,12} [KMGT]i?B",
            r"Placeholder tensor is empty",
            r"Failed to infer result type\(s\)",
            r"Adaptive pool MPS: input sizes must be divisible",
            r"'mps\.\w{2,30}' op (?:requires|operand|attribute)",
        ),
        (
            "of ndarray >",
            "support tensor dims",
            "at the mps device",
            "failed assertion",
            "invalid buffer size",
            "placeholder tensor is",
            "infer result type",
            "adaptive pool mps",
            "'mps.",
        ),
    ),
    "half-on-cpu": (
        (r"[\"'](?P<detail>\w{3,60})[\"'] not implemented for 'Half'",),
        ("not implemented for 'half'",),
    ),
    "coreml-plan": (
        (
            r"Error in building plan",
            r"Failed to build the model execution plan",
            r"Error in declaring network",
            r"Error Domain=com\.apple\.CoreML Code=\d",
            r"E5RT(?: encountered an? (?:STL|unknown) exception|: [A-Z][^\n]{5,80})",
            r"ANEC?Compil\w{0,8}\(\) FAILED",
            r"failed to compile ANE model",
            r"Espresso exception",
            r"\bANE model load has failed",
            r"Must re-compile the E5 bundle",
            r"com\.apple\.appleneuralengine",
        ),
        (
            "in building plan",
            "in declaring network",
            "com.apple.coreml",
            "model execution plan",
            "e5rt",
            "() failed",
            "compile ane model",
            "espresso exception",
            "ane model load",
            "the e5 bundle",
            "appleneuralengine",
        ),
    ),
    "coreml-model-version": (
        (
            r"Error reading protobuf spec",
            r"Unable to parse ML Program",
            r"Error compiling model",
            r"model has specification version (?P<detail>\d{1,2})",
            r"coremldata\.bin is not a valid \.mlmodelc",
        ),
        (
            "reading protobuf spec",
            "parse ml program",
            "error compiling model",
            "specification version",
            "coremldata.bin",
        ),
    ),
    "coreml-predict": (
        (r"Unable to compute the (?:asynchronous )?prediction using", r"Error computing NN outputs"),
        ("compute the prediction", "compute the asynchronous", "error computing nn"),
    ),
    "coremltools-operator": (
        (r"PyTorch convert function for op '(?P<detail>\w{1,80})' not implemented",),
        ("pytorch convert function",),
    ),
    "coremltools-untested-torch": (
        (r"Torch version [\w.+]{3,20} has not been tested with coremltools",),
        ("tested with coremltools",),
    ),
    "coremltools-no-library": (
        (r"Failed to load _MLModel\w{0,10}: No module named 'coremltools", r"BlobWriter not loaded"),
        ("failed to load _mlmodel", "blobwriter not loaded"),
    ),
    "metal-plugin-mismatch": (
        (
            r"dlopen\(.{0,160}?libmetal_plugin\.dylib",
            r"UNIMPLEMENTED: default_memory_space is not supported",
        ),
        ("libmetal_plugin", "default_memory_space"),
    ),
}

_KINDS = table_symptoms("metal", _WORDINGS, general=["mlx-refused", "mps-type", "ggml-metal-build"])
_MEMBERS = code_members("metal_codes", _KINDS, ["code"])
SYMPTOMS = tuple(symptom for symptom in _KINDS.values() if symptom.patterns)
FAMILIES = (
    Family(
        patterns=(
            (
                r"(?:(?:Caused|Insufficient|Ignored|Discarded|Internal|Invalid|Impacting)[ a-zA-Z()/]{3,90} "
                r"\([0-9a-f]{8}:)?(?:kIOGPUCommandBufferCallbackError|MTLCommandBufferError)(?P<code>[A-Z][A-Za-z]{3,40})"
            ),
            r"-\[_?(?P<code>MTL\w{5,60}) [\w:]{3,80}\]: failed assertion",
        ),
        anchors=("kiogpucommandbuffer", "mtlcommandbuffererror", "failed assertion"),
        members=_MEMBERS,
        unlisted=_KINDS["metal-command-failed"],
    ),
    Family(
        patterns=(
            (
                rf"{_BUFFER}[:.]? (?:error: )?"
                r"(?P<code>Caused GPU [A-Z][a-z]{2,10}(?: Fault)?|In[a-z]{4,12} [A-Z][a-z]{4,12}|Ignored|Discarded)"
            ),
            rf"(?P<code>{_BUFFER})(?![\s\S]{{0,240}}?(?:kIOGPU|MTLCommandBufferError|Caused GPU|Insufficient|Ignored))",
        ),
        anchors=("command buffer",),
        members=_MEMBERS,
        unlisted=_KINDS["metal-command-failed"],
        is_general=True,
    ),
)
