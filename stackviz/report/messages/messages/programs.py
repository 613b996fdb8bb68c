"""Programs and frameworks beside torch that do not find or do not use the GPU."""

from stackviz.report.messages.commands import NVIDIA_SMI
from stackviz.report.messages.symptom import Cause, Symptom

_PIP_LIST = "python -m pip list"

SYMPTOMS = (
    Symptom(
        key="tensorflow-no-cuda",
        message="Could not find cuda drivers on your machine, GPU will not be used.",
        patterns=(
            r"Could not find cuda drivers on your machine, GPU will not be used",
            r"Cannot dlopen some GPU libraries\. Please make sure the missing libraries",
            r"Skipping registering GPU devices",
            r"failed call to cuInit: [^\n]{0,80}?UNKNOWN ERROR \(\d{1,3}\)",
        ),
        anchors=("call to cuinit", "could not find cuda drivers", "cannot dlopen some gpu", "skipping registering gpu"),
        component="tensorflow",
        severity="warning",
        meaning=(
            "TensorFlow runs on the processor: it does not find a driver, or not the CUDA libraries it was built for."
        ),
        causes=(
            Cause(
                text="The CUDA libraries that this TensorFlow was built for are not installed.",
                sign="nvidia-smi lists the card, and the message is the one about libraries.",
                remedy="pip install 'tensorflow[and-cuda]' (Linux; it brings the libraries of its own CUDA version)",
            ),
            Cause(
                text="The driver is missing, or the container was started without the GPU.",
                sign="nvidia-smi fails where TensorFlow runs.",
                remedy="Make nvidia-smi work there first; for a container: --gpus all",
            ),
            Cause(
                text="On Windows, TensorFlow has no GPU since 2.11.",
                sign="platform.system() is Windows.",
                remedy="Use WSL2.",
                favoured_by=("windows",),
                only_on=("windows",),
            ),
        ),
        ask='python -c "import tensorflow as tf; print(tf.__version__, tf.sysconfig.get_build_info())"',
        rules=("tf-windows", "tf-other-cuda"),
        source_title="TensorFlow, install with pip",
        source_url="https://www.tensorflow.org/install/pip",
    ),
    Symptom(
        key="tensorflow-factory",
        message=(
            "Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already "
            "been registered"
        ),
        patterns=(r"Unable to register cu(?:DNN|BLAS|FFT) factory",),
        anchors=("unable to register cu",),
        component="tensorflow",
        severity="note",
        meaning=(
            "TensorFlow prints this at every start with some builds. It is harmless and says nothing about the GPU."
        ),
        causes=(Cause(text="Two parts of TensorFlow register the same library.", remedy="Nothing to do."),),
        ask='python -c "import tensorflow as tf; print(tf.config.list_physical_devices())"',
        source_title="tensorflow/tensorflow issue 62075",
        source_url="https://github.com/tensorflow/tensorflow/issues/62075",
    ),
    Symptom(
        key="numa-node",
        message="could not open file to read NUMA node: /sys/bus/pci/devices/0000:01:00.0/numa_node",
        patterns=(r"could not open file to read NUMA node",),
        anchors=("to read numa node",),
        component="tensorflow",
        severity="note",
        meaning="The message is harmless: the kernel does not say which part of the memory is nearest.",
        causes=(
            Cause(
                text="The kernel offers no NUMA node for the card.",
                sign="It stands there in WSL2, on desktops and on Jetson; the program runs on.",
                remedy="Nothing needs to be done.",
            ),
        ),
        ask=NVIDIA_SMI,
        source_title="jax-ml/jax issue 5361",
        source_url="https://github.com/jax-ml/jax/issues/5361",
    ),
    Symptom(
        key="jax-cpu-only",
        message=(
            "An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back "
            "to cpu."
        ),
        patterns=(
            r"CUDA-enabled jaxlib is not installed\. Falling back to cpu",
            r"No GPU/TPU found, falling back to CPU",
        ),
        anchors=("cuda-enabled jaxlib", "no gpu/tpu found"),
        component="jax",
        severity="warning",
        meaning="JAX runs on the processor: its CUDA plug-in is not installed.",
        causes=(
            Cause(
                text="Plain jax was installed.",
                sign="python -m pip list shows no jax-cuda12-plugin or jax-cuda13-plugin.",
                remedy="pip install -U 'jax[cuda13]' (or cuda12 for an older driver)",
                excluded_by=("jax-cpu",),
            ),
        ),
        ask='python -c "import jax; jax.print_environment_info()"',
        rules=("jax-cpu",),
        source_title="JAX, installation",
        source_url="https://docs.jax.dev/en/latest/installation.html",
    ),
    Symptom(
        key="onnxruntime-cuda-provider",
        message="Failed to create CUDAExecutionProvider. Require cuDNN 9.* and CUDA 12.*",
        patterns=(
            r"Failed to create CUDAExecutionProvider",
            r"(?:Failed to load library|Error loading) .{0,200}?onnxruntime_providers_cuda\.(?:so|dll)",
            r"LoadLibrary failed with error 126 .{0,200}?onnxruntime_providers_cuda",
        ),
        anchors=("create cudaexecutionprovider", "onnxruntime_providers_cuda"),
        component="onnxruntime",
        severity="warning",
        meaning=(
            "ONNX Runtime runs on the processor: its CUDA provider cannot load CUDA or cuDNN of the major version it "
            "needs."
        ),
        causes=(
            Cause(
                text="CUDA or cuDNN of another major version is installed, or none.",
                sign="The message names the versions it requires.",
                remedy="pip install 'onnxruntime-gpu[cuda,cudnn]', and call onnxruntime.preload_dlls() first",
                excluded_by=("ort-cudnn-major",),
            ),
            Cause(
                text="onnxruntime and onnxruntime-gpu are both installed.",
                sign="python -m pip list shows both.",
                remedy="pip uninstall -y onnxruntime onnxruntime-gpu; then install onnxruntime-gpu alone",
                excluded_by=("ort-two-packages",),
            ),
        ),
        ask=_PIP_LIST,
        rules=("ort-cudnn-major", "ort-two-packages", "ort-silent-cpu"),
        source_title="ONNX Runtime, CUDA execution provider",
        source_url="https://onnxruntime.ai/docs/execution-providers/CUDA-ExecutionProvider.html",
    ),
    Symptom(
        key="bitsandbytes-no-gpu",
        message="The installed version of bitsandbytes was compiled without GPU support.",
        patterns=(
            r"bitsandbytes was compiled without GPU support",
            r"CUDA Setup failed despite (?:CUDA|GPU) being available",
            r"libbitsandbytes_cpu\.so: undefined symbol: (?P<detail>\w{1,60})",
            r"Could not find the bitsandbytes CUDA binary at",
        ),
        anchors=("without gpu support", "cuda setup failed", "libbitsandbytes_cpu", "bitsandbytes cuda binary"),
        component="bitsandbytes",
        meaning="bitsandbytes loads its library for processors, because it finds none for this torch's CUDA version.",
        causes=(
            Cause(
                text="torch is a CPU build, or sees no card.",
                sign="torch.cuda.is_available() prints False.",
                remedy="Mend that first.",
            ),
            Cause(
                text="This release of bitsandbytes has no library for the CUDA version of torch.",
                sign="python -m bitsandbytes names the file that is missing.",
                remedy="pip install -U bitsandbytes",
            ),
        ),
        ask="python -m bitsandbytes",
        rules=("cpu-wheel", "bitsandbytes-card", "torch-sees-no-card"),
        source_title="bitsandbytes, installation",
        source_url="https://huggingface.co/docs/bitsandbytes/main/en/installation",
    ),
    Symptom(
        key="xformers-other-torch",
        message=(
            "WARNING[XFORMERS]: xFormers can't load C++/CUDA extensions. xFormers was built for: PyTorch 2.1.0+cu121 "
            "with CUDA 1201"
        ),
        patterns=(
            r"xFormers can't load C\+\+/CUDA extensions",
            (
                r"xFormers was built for:? PyTorch (?P<detail>[\w.+]{3,30})"
                r"(?: with CUDA \d{3,4})?(?: \(you have (?P<torch__version>\d[\w.+]{2,30})\))?"
            ),
        ),
        anchors=("xformers can't load", "xformers was built for"),
        component="xformers",
        severity="warning",
        meaning="xFormers was built for another torch; its fast kernels are off.",
        causes=(
            Cause(
                text="torch was upgraded or replaced after xFormers was installed.",
                sign="The message names the torch that it was built for.",
                remedy="Install the xFormers of this torch, from the index of this torch.",
            ),
            Cause(
                text="torch was replaced by the CPU build: the fault is torch's, not that of xFormers.",
                sign="The message says that you have a torch that ends in +cpu.",
                remedy="Install torch again from the index of the torch that xFormers was built for.",
                favoured_by=("cpu-build",),
                only_on=("cpu-build",),
            ),
        ),
        ask="python -m xformers.info",
        rules=("cpu-wheel",),
        source_title="xFormers, README: installing",
        source_url="https://github.com/facebookresearch/xformers#installing-xformers",
    ),
    Symptom(
        key="bfloat16-capability",
        message="ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0.",
        patterns=(r"Bfloat16 is only supported on GPUs with compute capability of at least 8\.0",),
        anchors=("bfloat16 is only supported",),
        component="vllm",
        meaning="The model is stored in bf16, and the card (older than Ampere) has no arithmetic for it.",
        causes=(
            Cause(
                text="The card's compute capability is below 8.0.",
                sign="nvidia-smi --query-gpu=name,compute_cap --format=csv shows it.",
                remedy="Load the model in fp16: --dtype half",
            ),
        ),
        ask="nvidia-smi --query-gpu=name,compute_cap --format=csv",
        rules=("vllm-card",),
        source_title="vLLM, engine arguments: dtype",
        source_url="https://docs.vllm.ai/en/latest/configuration/engine_args.html",
    ),
    Symptom(
        key="flash-attn-card",
        message="RuntimeError: FlashAttention only supports Ampere GPUs or newer.",
        patterns=(r"FlashAttention only supports (?P<detail>\w{1,20}) GPUs or newer",),
        anchors=("flashattention only supports",),
        component="flash-attn",
        meaning="FlashAttention has no code for cards older than the message names.",
        causes=(
            Cause(
                text="The card's compute capability is below 8.0.",
                sign="nvidia-smi --query-gpu=name,compute_cap --format=csv shows it.",
                remedy='Use PyTorch\'s own attention: attn_implementation="sdpa"',
                excluded_by=("flash-attn-card",),
            ),
        ),
        ask="nvidia-smi --query-gpu=name,compute_cap --format=csv",
        rules=("flash-attn-card",),
        source_title="FlashAttention, README: installation and features",
        source_url="https://github.com/Dao-AILab/flash-attention#installation-and-features",
    ),
    Symptom(
        key="ollama-no-gpu",
        is_general=True,
        message='msg="no compatible GPUs were discovered"',
        patterns=(
            r"no compatible GPUs were discovered",
            r"entering low vram mode",
            r"unable to load cuda driver library",
        ),
        anchors=("no compatible gpus", "entering low vram", "load cuda driver library"),
        component="llama-cpp",
        severity="warning",
        meaning=(
            "Ollama runs on the processor, or takes the card for a small one. The lines above say what it looked for."
        ),
        causes=(
            Cause(
                text="The driver does not work where Ollama runs.",
                sign="nvidia-smi or rocminfo fails there; in a container it was started without --gpus all.",
                remedy="Make that command work there first.",
            ),
            Cause(
                text="The machine slept, and the driver's module for unified memory is stale.",
                sign="It worked before.",
                remedy="sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm (no program may use the card meanwhile)",
            ),
            Cause(
                text=(
                    "The card is older than Ollama supports: compute capability below 5.0, or a gfx target without "
                    "kernels."
                ),
                sign="nvidia-smi --query-gpu=name,compute_cap --format=csv, or rocminfo.",
                remedy="Use the processor.",
            ),
        ),
        ask="journalctl -u ollama --no-pager -n 200",
        source_title="Ollama, troubleshooting",
        source_url="https://docs.ollama.com/troubleshooting",
    ),
    Symptom(
        key="ggml-cuda-failed",
        message="ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device is detected",
        patterns=(
            r"ggml_cuda_init: failed to initialize (?:CUDA|ROCm): (?P<detail>[^\n]{3,80})",
            r"warning: no usable GPU found, --gpu-layers option will be ignored",
        ),
        anchors=("ggml_cuda_init: failed", "no usable gpu found"),
        component="llama-cpp",
        meaning="llama.cpp runs on the processor: CUDA or ROCm does not start, or the program was built without it.",
        causes=(
            Cause(
                text="CUDA does not start; the words behind the colon are its error.",
                sign="nvidia-smi fails where the program runs.",
                remedy="Make nvidia-smi work there first; for a container: --gpus all",
            ),
            Cause(
                text="The program was built without a back end for the GPU.",
                sign="It says that no usable GPU was found, and names no device.",
                remedy="Take a build for CUDA, or build it with -DGGML_CUDA=ON",
            ),
        ),
        ask="llama-bench --list-devices",
        rules=("smi-no-driver",),
        source_title="llama.cpp, build",
        source_url="https://github.com/ggml-org/llama.cpp/blob/master/docs/build.md",
    ),
    Symptom(
        key="out-of-shared-memory",
        message=(
            "RuntimeError: DataLoader worker (pid 1234) is killed by signal: Bus error. It is possible that "
            "dataloader's workers are out of shared memory."
        ),
        patterns=(
            r"dataloader's workers are out of shared memory",
            r"unable to (?:open|write to|mmap) .{0,80}?shared memory",
        ),
        anchors=("out of shared memory", "shared memory"),
        component="linux",
        meaning="The workers of a DataLoader hand tensors over in /dev/shm, which is full. The GPU has no part in it.",
        causes=(
            Cause(
                text="A container has 64 MB of shared memory unless told otherwise.",
                sign="df -h /dev/shm shows 64M.",
                remedy="Start it with --ipc=host or --shm-size=8g.",
            ),
        ),
        ask="df -h /dev/shm",
        rules=("shared-memory-small",),
        source_title="PyTorch, README: Docker image",
        source_url="https://github.com/pytorch/pytorch#docker-image",
    ),
    Symptom(
        key="no-module-torch",
        message="ModuleNotFoundError: No module named 'torch'",
        patterns=(r"No module named '?torch'?(?![\w.])",),
        anchors=("no module named",),
        component="pytorch",
        meaning="The Python that runs the program has no torch.",
        causes=(
            Cause(
                text="Another Python runs than the one torch was installed for.",
                sign="python -m pip --version names another folder than the pip that was used.",
                remedy="Install with the Python that runs it: python -m pip install torch",
            ),
            Cause(
                text="A package needs torch to be built, and pip builds it apart from the environment.",
                sign="The line stands in the output of pip install, often of flash-attn.",
                remedy="Install torch first, then: pip install --no-build-isolation flash-attn",
            ),
        ),
        ask="python -VV; python -m pip --version",
        rules=("torch-import",),
        source_title="PyTorch, Start Locally",
        source_url="https://pytorch.org/get-started/locally/",
    ),
)
