"""AMD: lines of the kernel's driver, and the codes of HIP, HSA and the libraries of ROCm, as families."""

from stackviz.report.messages.symptom import Family, table_rows
from stackviz.report.messages.tables import code_members, table_symptoms

_NO_CARD = r"(?:No HIP GPUs are available|ROCk module is NOT loaded|Unable to open /dev/kfd|open /dev/kfd)"
_IN_WSL = r"(?:WSL2?\b|microsoft-standard)"

_KINDS = table_symptoms(
    "amd",
    {
        "rocm-wsl": (
            (rf"{_IN_WSL}[\s\S]{{0,280}}?{_NO_CARD}", rf"{_NO_CARD}[\s\S]{{0,600}}?{_IN_WSL}"),
            ("no hip gpus", "rock module is", "open /dev/kfd"),
        ),
        "rocm-library-missing": (
            (
                (
                    r"(?P<detail>lib(?:amdhip64|rocblas|hipblas(?:lt)?|MIOpen|hsa-runtime64|rccl|hipsparse(?:lt)?|rocsolver|hipfft"
                    r"|rocm_smi64|amd_comgr|roctx64|hiprtc)\.so[.\d]{0,8}): cannot open"
                ),
                r"(?P<detail>(?:amdhip64\w{0,4}|hiprtc\d{0,6}|rocblas|hipblas)\.dll)[^\n]{0,40}not found",
            ),
            (
                "libamdhip64",
                "librocblas",
                "libhipblas",
                "libmiopen",
                "libhsa-runtime",
                "librccl",
                "libhipsparse",
                "librocsolver",
                "libhipfft",
                "librocm_smi",
                "libamd_comgr",
                "libroctx",
                "libhiprtc",
                "amdhip64",
                "blas.dll",
            ),
        ),
        "amdgpu-error-line": (
            (
                r"amdgpu[^\n]{0,60}\*ERROR\*[^\n]{3,80}",
                (
                    r"(?:amdgpu [\w:.]{7,14}|kfd kfd): (?:amdgpu: )?[^\n]{0,60}\b"
                    r"(?:failed|fails?|lost|error|invalid|unable|cannot|timed out)\b[^\n]{0,60}"
                ),
            ),
            ("*error*", "amdgpu 0000:", "kfd kfd:"),
        ),
    },
    general=["amdgpu-error-line"],
)
SYMPTOMS = tuple(symptom for symptom in _KINDS.values() if symptom.patterns)
_HIP_TEXTS = "|".join(row["text"] for row in table_rows("amd_codes") if row["text"])
_MEMBERS = code_members("amd_codes", _KINDS, ["code", "number", "text"])
FAMILIES = (
    Family(
        patterns=(
            (
                r"\b(?P<code>hipError[A-Z]\w{2,40}|HSA_STATUS_ERROR\w{0,50}|miopenStatus[A-Z]\w{3,30}"
                r"|rocblas_status_\w{4,30}|HIPBLAS_STATUS_[A-Z_]{4,30})"
            ),
            rf"(?:HIP|ROCm)(?: runtime| driver)? error:? '?(?P<code>{_HIP_TEXTS}|\d{{1,4}}\b)",
            r"\bhsa[^\n]{0,60}?(?:code|error|status|returned):? (?P<code>0x10[0-2][0-9a-f]\b)",
            r"(?P<code>Incompatible kernel and userspace)",
            r"(?P<code>MIOpen\(HIP\): (?:Error|Warning)) ",
            r"(?P<code>MIOpen Error|hipBLASLt error|rocBLAS error(?!: (?:Cannot read|Could not initialize))): ",
            r"(?P<code>HIPRTC[_ ]ERROR)_?[A-Z_]{0,40}",
            r"cannot find (?:ROCm|HIP) (?P<code>device library)",
            r"No (?P<code>ROCm runtime) is found",
            r"(?P<code>No paths matched) .{1,200}?(?:Tensile|rocblas|hipblaslt)",
            r"Could not initialize (?P<code>Tensile host)",
            r"(?P<code>Cannot find the function):? Cijk_\w{1,200}",
            r"(?P<code>Missing system database file|hipBLASLt on an unsupported architecture)",
            r"(?P<code>ROCk module is NOT loaded|possibly no GPU devices|hsa_init failed)",
        ),
        anchors=(
            "hiperror",
            "hsa_status_error",
            "miopenstatus",
            "rocblas_status_",
            "hipblas_status_",
            "hip error",
            "rocm error",
            "hsa_init",
            "hsa api",
            "hsa error",
            "hsa status",
            "miopen error",
            "miopen(hip): error",
            "miopen(hip): warning",
            "kernel and userspace",
            "hipblaslt",
            "rocblas error",
            "system database file",
            "hiprtc",
            "cannot find rocm",
            "cannot find hip",
            "rocm runtime is",
            "no paths matched",
            "tensile host",
            "find the function",
            "rock module is",
            "no gpu devices",
        ),
        members=_MEMBERS,
    ),
    Family(
        patterns=(
            r"\bring [\w.]{2,24} (?P<code>timeout),",
            r"(?P<code>GPU reset)(?: begin!|\(\d{1,4}\) (?:succeeded|failed)| end with ret| succeeded| failed)",
            r"(?P<code>GPU Recovery Failed)",
            r"HW Exception by GPU node-\d{1,2}.{0,60}?reason ?: ?(?P<code>GPU Hang)",
            r"amdgpu.{0,80}?(?P<code>failed to respond to msg|unrecoverable state|device wedged)",
            r"amdgpu.{0,80}?(?P<code>Waiting for fences timed out|Failed to (?:resume|suspend))",
            r"amdgpu.{0,80}?(?:Failed to )?(?P<code>evict)(?: process)? queue",
            r"amdgpu.{0,80}?(?P<code>Fence fallback timer expired) on ring",
            r"amdgpu.{0,60}?\[\w{2,8}hub\d?\](?: no-retry| retry)? (?P<code>page fault)",
            r"(?P<code>VM_L2_PROTECTION_FAULT_STATUS):",
            r"(?P<code>Memory access fault by GPU) node",
            r"amdgpu.{0,40}?(?P<code>Fatal error during GPU init)",
            r"Direct (?P<code>firmware load) for amdgpu/",
            r"amdgpu.{0,80}?(?P<code>failed to load firmware|failed to load ucode)",
            r"(?P<code>PSP load)\s\w{2,12} failed",
            r"(?P<code>SMU): (?:I'm not done|response|Failed|unable|driver if version not matched.{0,40}fail)",
            r"amdgpu.{0,60}?(?P<code>discovery)(?:_init)? failed",
            r"get invalid ip (?P<code>discovery)",
            r"qcm (?P<code>fence wait loop timeout)",
            r"PCI address space for a (?P<code>large BAR)",
            r"_init of (?P<code>IP block) ?<\w{2,30}> failed",
            r"(?P<code>probe) (?:of [\w:.]{5,20}|with driver amdgpu) failed with error",
            r"(?P<code>uncorrectable hardware errors) detected in",
            r"amdgpu.{0,80}?(?P<code>bad page|poison)(?:s|ed)?\b",
            r"amdgpu.{0,80}?(?P<code>RAS):? (?:ECC|poison|bad|threshold|uncorrect)",
            r"Missing \\?\"(?P<code>iommu=pt|amd_iommu=on)",
            r"PCIe (?P<code>P2P access) from peer device .{0,40}not supported",
            r"PCI (?P<code>rejects atomics)",
            r"amdgpu: (?P<code>Topology): Add (?:CPU|dGPU|APU) node",
            r"kfd.{0,20}?: (?P<code>added device) 1002:",
            r"Runlist is getting (?P<code>oversubscribed)",
        ),
        anchors=(
            "timeout,",
            "gpu re",
            "hw exception by gpu",
            "amdgpu",
            "vm_l2_protection",
            "memory access fault by",
            "psp load",
            "smu:",
            "of ip block",
            "failed with error",
            "uncorrectable hardware",
            "iommu=",
            "from peer device",
            "rejects atomics",
            "added device 1002",
            "runlist is",
            "invalid ip discovery",
            "fence wait loop",
            "for a large bar",
        ),
        members=_MEMBERS,
    ),
)
