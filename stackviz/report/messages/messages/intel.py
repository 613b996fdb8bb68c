"""Intel GPUs and NPUs: codes of Level Zero, SYCL and OpenCL, lines of the kernel's drivers, oneAPI and OpenVINO."""

from stackviz.report.messages.symptom import Family
from stackviz.report.messages.tables import code_members, table_symptoms

_WORDINGS = {
    "intel-driver-line": (
        (r"(?:i915|xe|intel_vpu) [\w:.]{5,14}:[^\n]{0,40}\*ERROR\*[^\n]{3,80}",),
        ("*error*",),
    ),
    "intel-exception": (
        (
            r"sycl::(?:_V\d::)?(?:exception|runtime_error|nd_range_error|invalid_parameter_error)",
            r"\b(?:UR|level_zero|SYCL|oneapi)\b[^\n]{0,40}?\b(?:error|failed|exception)\b",
        ),
        ("sycl::", "ur error", "ur backend", "level_zero backend", "sycl error", "sycl exception", "oneapi::"),
    ),
    "ipex-ended": (
        (
            r"Intel.{0,6} Extension for PyTorch.{0,4} needs to work with PyTorch (?P<detail>[\w.*]{3,12})",
            r"No module named '?intel_extension_for_pytorch",
            r"libintel-ext-pt[\w.-]{0,20}\.so: (?:undefined symbol|cannot open)",
        ),
        ("extension for pytorch", "intel_extension_for_pytorch", "libintel-ext-pt"),
    ),
    "oneapi-library-missing": (
        (
            r"(?P<detail>lib(?:sycl|ze_loader|ur_(?:loader|adapter\w{0,20})|svml|mkl_sycl\w{0,9})\.so[.\d]{0,8}): can",
            r"Error loading .{0,200}?(?P<detail>(?:torch_xpu|c10_xpu|sycl\d|ur_loader)\.dll)",
        ),
        ("libsycl", "libze_loader", "libur_", "libsvml", "libmkl_sycl", "_xpu.dll", "sycl", "ur_loader"),
    ),
    "onednn-primitive": (
        (r"could not (?:create|execute|initialize) an? (?:primitive|memory object|engine|stream)(?: descriptor)?\b",),
        ("a primitive", "a memory object", "create an engine", "create a stream"),
    ),
    "mkl-library": ((r"MKL FATAL ERROR: Cannot load",), ("mkl fatal error",)),
    "openvino-device": (
        (
            r"Device with \"(?P<detail>\w{2,12})\" name is not registered in the OpenVINO",
            r"Cannot (?:find|load) (?:plugin|library '?\w{0,40}openvino)",
            r"Failed to create plugin .{0,200}?for device (?P<detail>\w{2,12})",
            r"\[GPU\] (?:Can't get \w{2,60} property as no supported devices found|No \w{0,20} ?device)",
        ),
        ("in the openvino", "cannot find plugin", "cannot load", "failed to create plugin", "[gpu]"),
    ),
    "openvino-gpu": (
        (
            r"\[GPU\] [^\n]{0,80}?(?:failed|error code|exceed|not supported|out of)",
            r"ocl::\w{3,40}[^\n]{0,80}error code: -\d{1,3}",
            r"intel_gpu/src/[\w/.]{5,80}:\d{1,5}",
        ),
        ("[gpu]", "error code: -", "intel_gpu/src/"),
    ),
    "openvino-npu": (
        (
            r"\[NPU_(?:VCL|COMPILER|DRIVER)\w{0,10}\]",
            r"Failed to compile .{1,60}? for all devices in \[NPU\]",
            r"L0 pfn\w{2,40} result: ZE_RESULT_ERROR_\w{3,40}",
        ),
        ("[npu_", "in [npu]", "l0 pfn"),
    ),
    "vulkan-failed": (
        (
            r"\bError(?:DeviceLost|IncompatibleDriver|InitializationFailed|FeatureNotPresent)\b",
            r"\bVK_ERROR_(?:DEVICE_LOST|INCOMPATIBLE_DRIVER|INITIALIZATION_FAILED|FEATURE_NOT_PRESENT)",
            r"ggml_vulkan: No (?:suitable )?devices found",
        ),
        ("errordevicelost", "errorincompatible", "errorinitialization", "errorfeature", "vk_error_", "ggml_vulkan: no"),
    ),
}

_KINDS = table_symptoms("intel", _WORDINGS, general=["intel-driver-line", "openvino-gpu", "intel-exception"])
SYMPTOMS = tuple(symptom for symptom in _KINDS.values() if symptom.patterns)
_MEMBERS = code_members("intel_codes", _KINDS, ["code", "ze"])
FAMILIES = (
    Family(
        patterns=(
            r"(?:Native API returns: -?\d{1,4} \()?\b(?:UR_RESULT|PI|ZE_RESULT)_ERROR_(?P<code>[A-Z_]{4,50})",
            r"\bCL_(?P<code>[A-Z_]{7,50})",
            r"\b(?P<code>0x7[08f]0[0-9a-f]{5})\b(?! ?\(ZE_)",
            r"(?P<code>No device of requested type) (?:'[\w:]{3,40}' )?available",
            r"(?P<code>No SYCL devices) found",
            r"(?P<code>Build program log) for '",
            r"(?P<code>Abort was called) at \d{1,5} line in file:? .{0,40}?/(?:neo|shared|level_zero|opencl)/",
            r"IGC: (?P<code>Internal Compiler Error)",
            r"(?P<code>Required aspect) \w{2,30} is not supported",
            r"(?P<code>fp64|double) (?:is not supported|type is not supported)",
            r"open (?:file '?)?/dev/dri/renderD\d{1,4}'?: (?P<code>Permission denied)",
            r"(?:i915|xe) [\w:.]{5,14}:.{0,60}? (?P<code>GPU HANG|engine reset|Timedout job|Resetting|wedged)",
            r"(?:i915|xe) [\w:.]{5,14}:.{0,60}?[GH]uC:? .{0,60}?(?P<code>load failed|initialization failed)",
            r"(?:i915|xe) [\w:.]{5,14}: Direct (?P<code>firmware load) for",
            r"(?:i915|xe) [\w:.]{5,14}:.{0,40}? (?P<code>probe) (?:of|with driver|failed)",
            r"properly supported by \w{2,5}.{0,200}?(?P<code>force_probe)",
        ),
        anchors=(
            "ur_result_error_",
            "pi_error_",
            "ze_result_error_",
            "cl_out_of",
            "cl_device_not",
            "cl_build_program",
            "cl_invalid_",
            "cl_mem_object",
            "cl_exec_status",
            "cl_platform_not",
            "0x70",
            "0x78",
            "device of requested",
            "no sycl devices",
            "build program log",
            "abort was called",
            "internal compiler error",
            "required aspect",
            "is not supported",
            "/dev/dri/render",
            "i915",
            "xe 0000:",
            "force_probe",
        ),
        members=_MEMBERS,
    ),
    Family(
        patterns=(r"Native API returns: (?P<code>-\d{1,4})\b(?! \((?:UR|PI)_)",),
        anchors=("native api returns",),
        members={
            code.removeprefix("native "): symptom for code, symptom in _MEMBERS.items() if code.startswith("native ")
        },
        unlisted=_KINDS["intel-failed"],
    ),
)
