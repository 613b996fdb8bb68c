"""Lines as programs print them, taken from their sources: which message each is."""

import pytest

from stackviz.report.importers import read_all
from stackviz.report.importers.messages import is_message

LINES = (
    (
        "cuda-out-of-memory",
        "torch.OutOfMemoryError: CUDA out of memory occurred when warming up sampler with 256 dummy requests. Please try lowering `max_num_seqs` or `gpu_memory_utilization` when initializing the engine.",
    ),
    (
        "vllm-kv-cache",
        "ValueError: The model's max seq len (32768) is larger than the maximum number of tokens that can be stored in KV cache (20432). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.",
    ),
    ("sglang-cache-full", "KV cache pool is full. Retract requests. #retracted_reqs: 1, #new_token_ratio: 0.6 -> 0.9"),
    ("ggml-memory", "ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 2147483648"),
    ("ggml-memory", "Error: llama runner process has terminated: cudaMalloc failed: out of memory"),
    (
        "ollama-memory-not-freed",
        'level=WARN source=sched.go:646 msg="gpu VRAM usage didn\'t recover within timeout" seconds=5.021',
    ),
    (
        "xla-memory",
        "XlaRuntimeError: RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 21.30G of 15.75G hbm. Exceeded hbm capacity by 5.55G.",
    ),
    (
        "tensorflow-memory",
        "W tensorflow/tsl/framework/bfc_allocator.cc:485] Allocator (GPU_0_bfc) ran out of memory trying to allocate 3.81GiB (rounded to 4096000000)requested by op Conv2D",
    ),
    (
        "onnxruntime-memory",
        "Non-zero status code returned while running MatMul node. Name:'/MatMul' Status Message: Failed to allocate memory for requested buffer of size 2147483648",
    ),
    (
        "metal-timeout",
        "libc++abi: terminating due to uncaught exception of type std::runtime_error: [METAL] Command buffer execution failed: Impacting Interactivity (0000000e:kIOGPUCommandBufferCallbackErrorImpactingInteractivity)",
    ),
    (
        "mlx-wired-limit",
        "ValueError: [metal::set_wired_limit] Setting a wired limit larger than the maximum working set size is not allowed.",
    ),
    ("mlx-refused", "RuntimeError: [Event::Event] Failed to create Metal shared event."),
    ("mps-type", "RuntimeError: Conv3D is not supported on MPS"),
    (
        "mps-size",
        "MPSNDArray.mm:1124: failed assertion `[MPSTemporaryNDArray initWithDevice:descriptor:] Error: NDArray dimension length > INT_MAX'",
    ),
    ("coreml-predict", 'RuntimeError: { NSLocalizedDescription = "Error computing NN outputs."; }'),
    ("metal-command-failed", "ggml_metal_graph_compute: command buffer 1 failed with status 5"),
    ("amdgpu-error-line", "amdgpu 0000:2d:00.0: [drm] *ERROR* [CRTC:82:crtc-0] flip_done timed out"),
    ("amd-gpu-reset", "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring comp_1.0.0 timeout, but soft recovered"),
    ("amd-gpu-reset", "amdgpu 0000:03:00.0: amdgpu: MES failed to respond to msg=REMOVE_QUEUE"),
    ("amd-gpu-reset", "amdgpu: qcm fence wait loop timeout expired"),
    ("amdgpu-small-bar", "amdgpu 0000:0a:00.0: amdgpu: Not enough PCI address space for a large BAR."),
    ("amdgpu-not-started", "amdgpu 0000:03:00.0: amdgpu: get invalid ip discovery binary signature"),
    ("amdgpu-not-started", "amdgpu: probe of 0000:03:00.0 failed with error -22"),
    ("rocm-no-device", "hsa_init Failed, possibly no supported GPU devices"),
    (
        "rocm-no-code",
        "rocBLAS warning: No paths matched /opt/rocm/lib/rocblas/library/*gfx1103*co. Make sure that ROCBLAS_TENSILE_LIBPATH is set correctly.",
    ),
    ("rocm-compile", "HIPRTC_ERROR_COMPILATION (6)"),
    (
        "rocm-compile",
        "clang++: error: cannot find ROCm device library for gfx1201; provide its path via '--rocm-path' or '--rocm-device-lib-path'",
    ),
    ("rocm-memory-fault", "torch.AcceleratorError: HIP error: an illegal memory access was encountered"),
    (
        "intel-out-of-memory",
        "Native API failed. Native API returns: -5 (PI_ERROR_OUT_OF_RESOURCES) -5 (PI_ERROR_OUT_OF_RESOURCES)",
    ),
    ("intel-device-lost", "i915 0000:03:00.0: [drm] Resetting chip for stopped heartbeat on rcs0"),
    (
        "intel-device-lost",
        "xe 0000:03:00.0: [drm] Tile0: GT0: Timedout job: seqno=4294967169, lrc_seqno=4294967169, guc_id=2, flags=0x0 in python3 [1234]",
    ),
    (
        "openvino-gpu",
        "[GPU] ProgramBuilder build failed! Program build failed(0_part_0): You may enable OCL source dump to see the error log.",
    ),
    ("onednn-primitive", "RuntimeError: could not create an engine"),
    (
        "jax-backend-failed",
        "RuntimeError: Unknown backend: 'gpu' requested, but no platforms that are instances of gpu are present. Platforms present are: cpu",
    ),
    (
        "kernel-image-invalid",
        "Failed to load in-memory CUBIN (compiled for a different GPU?).: CUDA_ERROR_INVALID_IMAGE: device kernel image is invalid",
    ),
    (
        "onnxruntime-other-provider",
        "EP Error onnxruntime_pybind_state.cc:456 onnxruntime::python::RegisterTensorRTPluginsAsCustomOps Please install TensorRT libraries as mentioned in the GPU requirements page",
    ),
    (
        "library-execution",
        "[TRT] [E] 1: [convolutionRunner.cpp::executeConv::465] Error Code 1: Cudnn (CUDNN_STATUS_EXECUTION_FAILED)",
    ),
    (
        "tensorrt-engine-other-card",
        "[TRT] [W] Using an engine plan file across different models of devices is not recommended and is likely to affect performance or even cause errors.",
    ),
    (
        "host-out-of-memory",
        "python3 invoked oom-killer: gfp_mask=0x140dca(GFP_HIGHUSER_MOVABLE|__GFP_COMP|__GFP_ZERO), order=0, oom_score_adj=0",
    ),
    (
        "host-out-of-memory",
        "RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 15728640000 bytes. Error code 12 (Cannot allocate memory)",
    ),
    (
        "cuda-out-of-memory",
        "ValueError: There is no module or parameter named 'x' and torch.cuda.OutOfMemoryError: HIP out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total capacity of 15.98 GiB of which 1.02 GiB is free.",
    ),
    ("vllm-kv-cache", "INFO 11-02 gpu_worker.py] Available KV cache memory: -2.31 GiB"),
    (
        "vllm-memory-changed",
        "AssertionError: Error in memory profiling. Initial free memory 20.1 GiB, current free memory 21.4 GiB. This happens when other processes sharing the same container release GPU memory while vLLM is profiling during initialization.",
    ),
    (
        "cuda-out-of-memory",
        "RuntimeError: CUDA error: out of memory while loading Q4_K model: llama_model_load_from_file_impl: failed to load model",
    ),
    ("pinned-memory", "ggml_cuda_host_malloc: failed to allocate 4096.00 MiB of pinned memory: out of memory"),
    ("host-out-of-memory", "mmap failed: Cannot allocate memory"),
    (
        "xla-memory",
        "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Failed to allocate request for 12.00GiB (12884901888B) on device ordinal 0",
    ),
    ("pinned-memory", "Could not allocate pinned host memory of size: 4294967296"),
    (
        "host-out-of-memory",
        "MemoryError: Unable to allocate 7.45 GiB for an array with shape (1000000000,) and data type float64",
    ),
    ("host-out-of-memory", "Container killed on request. Exit code is 137"),
    (
        "mps-out-of-memory",
        "RuntimeError: MPS backend out of memory (MPS allocated: 9.05 GB, other allocations: 384.00 KB, max allowed: 9.07 GB). Tried to allocate 50.00 MB on private pool.",
    ),
    (
        "mps-operator-missing",
        "NotImplementedError: Could not run 'aten::_sparse_coo_tensor_with_dims_and_tensors' with arguments from the 'SparseMPS' backend.",
    ),
    (
        "mps-size",
        'RuntimeError: view size is not compatible with input tensor\'s size and stride on MPS: "Placeholder tensor is empty!"',
    ),
    (
        "metallib-missing",
        "RuntimeError: Failed to load the metallib steel_gemm.metallib. We attempted to load it from </opt/mlx/lib/steel_gemm.metallib>",
    ),
    (
        "metal-compiler-missing",
        "error: cannot execute tool 'metal' due to missing Metal Toolchain; use: xcodebuild -downloadComponent MetalToolchain",
    ),
    (
        "mlx-refused",
        "ValueError: [quantize] The last dimension of the matrix needs to be divisible by the quantization group size 64.",
    ),
    ("coreml-plan", "E5RT: No memory object bound to port. (2)"),
    ("ggml-metal-build", "ggml_metal_device_init: error: failed to allocate context"),
    ("amdgpu-error-line", "[drm:amdgpu_dm_init [amdgpu]] *ERROR* amdgpu: failed to initialize sw for display support."),
    ("amd-gpu-reset", "amdgpu 0000:03:00.0: amdgpu: GPU reset end with ret = -62"),
    ("amdgpu-not-started", "[drm:gfx_v9_0_cp_gfx_resume [amdgpu]] *ERROR* hw_init of IP block <gfx_v9_0> failed -110"),
    (
        "amd-ecc",
        "amdgpu 0000:43:00.0: amdgpu: ECC error detected in umc; RAS: poison is consumed by client 9, kick off gpu reset flow",
    ),
    ("amd-gpu-reset", "kfd kfd: amdgpu: Failed to resume IOMMU for device 1002:15d8"),
    ("rocm-no-code", "hipErrorSharedObjectInitFailed: shared object initialization failed"),
    ("rocm-no-device", "HSA Error: Incompatible kernel and userspace, GFX11.5 disabled. Upgrade amdgpu."),
    (
        "rocm-library-failed",
        "MIOpen(HIP): Error [Do] 'amd_comgr_do_action(kind, handle, in.GetHandle(), out.GetHandle())' AMD_COMGR_ACTION_CODEGEN_BC_TO_RELOCATABLE: ERROR (1)",
    ),
    ("rocm-library-failed", "RuntimeError: cuDNN error: miopenStatusInternalError"),
    ("hip-invalid-device-function", "ROCm error: invalid device function in ggml_cuda_compute_forward"),
    ("intel-failed", "Abort was called at 718 line in file: /build/neo/shared/source/os_interface/linux/drm_neo.cpp"),
    (
        "intel-failed",
        "oneapi::mkl::blas::gemm: computation failed: Native API failed. Native API returns: -999 (Unknown PI error)",
    ),
    (
        "intel-bad-call",
        "RuntimeError: Check 'backend.second == ov::element::f16' failed: [GPU] clFlush, error code: -36 CL_INVALID_COMMAND_QUEUE",
    ),
    ("intel-driver-line", "intel_vpu 0000:00:0b.0: [drm] *ERROR* ivpu_boot(): Failed to boot the firmware: -110"),
    (
        "xla-driver-older",
        "The NVIDIA driver's CUDA version is 12.4 which is older than the PTX compiler version 12.8.93. Because the driver is older than the PTX compiler version, XLA is disabling parallel compilation",
    ),
    ("xla-dnn", "jaxlib.xla_extension.XlaRuntimeError: UNIMPLEMENTED: DNN library is not found."),
    (
        "jax-avx",
        "RuntimeError: This version of jaxlib was built using AVX instructions, which your CPU and/or operating system do not support.",
    ),
    (
        "tensorflow-memory",
        "tensorflow.python.framework.errors_impl.FailedPreconditionError: Failed to allocate scratch buffer for device 0",
    ),
    (
        "tensorflow-no-cuda",
        "2025-01-01 E external/local_xla/xla/stream_executor/cuda/cuda_driver.cc:152] failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: UNKNOWN ERROR (303)",
    ),
    (
        "onnxruntime-provider-missing",
        "UserWarning: Specified provider 'CUDAExecutionProvider' is not in available provider names.Available providers: 'CPUExecutionProvider'",
    ),
    (
        "tensorrt-failed",
        "[TRT] [E] 9: Skipping tactic 0x0000000000000000 due to exception [myelin_graph.h:attachExceptionMsgToGraph:1138] MyelinCheckException",
    ),
    (
        "tensorrt-usage",
        "[TRT] [E] 4: [network.cpp::validate::3399] Error Code 4: Internal Error (Network has dynamic or shape inputs, but no optimization profile has been defined.)",
    ),
    (
        "cuda-out-of-memory",
        "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.79 GiB total capacity; 6.20 GiB already allocated; 14.31 MiB free; 6.31 GiB reserved in total by PyTorch)",
    ),
    (
        "cuda-out-of-memory",
        "torch.OutOfMemoryError: XPU out of memory. Tried to allocate 4.00 GiB. GPU 0 has a total capacity of 15.91 GiB. Of the allocated memory 9.20 GiB is allocated by PyTorch",
    ),
    (
        "vllm-engine-failed",
        "ValueError: The decoder prompt is too long; EngineCore failed to start: RuntimeError: Engine core initialization failed. Failed core proc(s): {'EngineCore_0': -9}",
    ),
    (
        "sglang-memory",
        "torch.OutOfMemoryError: Not enough GPU memory for the KV cache: Available memory -1.02 GB. Please consider decreasing mem-fraction-static",
    ),
    ("ggml-memory", "llama_init_from_model: failed to initialize the context: failed to allocate compute pp buffers"),
    (
        "ggml-memory",
        "main: error: unable to load model: ggml_vulkan: vk::Device::allocateMemory: ErrorOutOfDeviceMemory",
    ),
    (
        "ollama-memory",
        "Error: 500 Internal Server Error: model requires more system memory (48.0 GiB) than is available (30.2 GiB)",
    ),
    (
        "xla-memory",
        "XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating 25769803776 bytes. BufferAssignment OOM Debugging.",
    ),
    (
        "tensorflow-memory",
        "tensorflow.python.framework.errors_impl.ResourceExhaustedError: Graph execution error: failed to allocate memory",
    ),
    (
        "onnxruntime-memory",
        "E:onnxruntime:, sequential_executor.cc:516 ExecuteKernel] Non-zero status code returned while running FusedConv node. Status Message: bfc_arena.cc:376 Failed to allocate memory for requested buffer of size 805306368",
    ),
    (
        "cuda-out-of-memory",
        "[TRT] [E] IBuilder::buildSerializedNetwork: Error Code 1: Myelin ([myelin_cache.h:operator():71] autotuning: CUDA error 2 allocating 0-byte buffer: out of memory)",
    ),
    (
        "host-out-of-memory",
        "slurmstepd: error: Detected 1 oom_kill event in StepId=1234.batch. Some of the step tasks have been OOM Killed.",
    ),
    (
        "metal-page-fault",
        "[METAL] Command buffer execution failed: Invalid Resource (00000009:kIOGPUCommandBufferCallbackErrorInvalidResource)",
    ),
    ("metal-command-failed", "ggml_metal_synchronize: error: command buffer 0 failed with status 5"),
    (
        "metal-kernel-missing",
        "RuntimeError: [metal::Device] Unable to load function steel_attention_bfloat16 Function steel_attention_bfloat16 was not found in the library",
    ),
    (
        "mps-placeholder",
        "RuntimeError: Input type (MPSFloatType) and weight type (torch.FloatTensor) should be the same",
    ),
    ("mps-size", "RuntimeError: MPSGaph does not support tensor dims larger than INT_MAX"),
    ("mps-type", "TypeError: Operation 'add_out_mps()' does not support input type 'int64' in MPS backend."),
    (
        "coreml-model-version",
        'RuntimeError: Error compiling model: "Failed to parse the model specification. Error: Unable to parse ML Program: in operation of type reduce_mean: Unknown op".',
    ),
    (
        "coreml-plan",
        "ANE model load has failed for on-device compiled macho. Must re-compile the E5 bundle. @ GetANEFModel",
    ),
    ("amdgpu-error-line", "amdgpu 0000:03:00.0: amdgpu: failed to write reg 291c wait reg 292e"),
    (
        "amd-gpu-reset",
        "amdgpu 0000:03:00.0: amdgpu: Dumping IP State Completed, ring sdma0 timeout, signaled seq=11, emitted seq=13",
    ),
    ("amdgpu-error-line", "amdgpu 0000:03:00.0: amdgpu: VRAM is lost due to GPU reset!"),
    (
        "rocm-memory-fault",
        "amdgpu 0000:c4:00.0: amdgpu: [mmhub0] no-retry page fault (src_id:0 ring:40 vmid:1 pasid:32770)",
    ),
    ("amdgpu-error-line", "kfd kfd: amdgpu: Failed to create process device data"),
    ("no-hip-gpus", "Error: HIP runtime error: hipErrorNoDevice no ROCm-capable device is detected"),
    (
        "rocm-bad-call",
        "terminate called after throwing an instance of 'std::runtime_error' what(): HIP error: named symbol not found",
    ),
    ("rocm-no-code", "rocBLAS error: Could not initialize Tensile host: No devices found"),
    ("rocm-peer", "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp, HIP failure 'hipErrorPeerAccessUnsupported'"),
    ("rocm-library-failed", "RuntimeError: HIPBLAS_STATUS_NOT_SUPPORTED when calling hipblasLtMatmulAlgoGetHeuristic"),
    (
        "intel-no-device",
        "terminate called after throwing an instance of 'sycl::_V1::exception' what(): No device of requested type 'info::device_type::gpu' available.",
    ),
    (
        "intel-device-lost",
        "RuntimeError: UR error: level_zero backend failed with error: 20 (UR_RESULT_ERROR_DEVICE_LOST)",
    ),
    ("intel-driver-line", "xe 0000:00:02.0: [drm] *ERROR* GT0: TLB invalidation time'd out, seqno=3, recv=2"),
    (
        "intel-device-lost",
        "RuntimeError: [ GENERAL_ERROR ] L0 zeFenceCreate result: ZE_RESULT_ERROR_DEVICE_LOST, code 0x70000001 - device hung, reset, was removed, or driver update occurred",
    ),
    (
        "jax-cuda-older",
        "WARNING:jax._src.xla_bridge: CUDA backend failed to initialize: Found cuDNN version 8700, but JAX was built against version 8907, which is newer.",
    ),
    (
        "xla-status-argument",
        'jaxlib.xla_extension.XlaRuntimeError: NOT_FOUND: Could not find registered platform with name: "cuda"',
    ),
    (
        "xla-dnn",
        "2025-05-05 E external/local_xla/xla/stream_executor/cuda/cuda_dnn.cc:467] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR",
    ),
    (
        "driver-too-old",
        "onnxruntime.capi.onnxruntime_pybind11_state.RuntimeException: [ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : Exception during initialization: cuda_call.cc:124 CUDA failure 35: CUDA driver version is insufficient for CUDA runtime version",
    ),
    (
        "tensorrt-failed",
        "[TRT] [E] 2: [helpers.cpp::smVerHex2Dig::694] Error Code 2: Internal Error (Assertion major >= 0 && major < 10 failed. )",
    ),
    (
        "tensorrt-warning",
        "[TRT] [W] CUDA lazy loading is not enabled. Enabling it can significantly reduce device memory usage.",
    ),
    (
        "cuda-out-of-memory",
        "torch.cuda.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory) Currently allocated : 7.02 GiB Requested : 1.19 GiB Device limit : 8.00 GiB Free (according to CUDA): 0 bytes",
    ),
    ("cuda-out-of-memory", "RuntimeError: CUDA driver error: out of memory"),
    ("vllm-engine-failed", "ERROR 11-01 core.py:842 EngineCore failed to start."),
    (
        "vllm-kv-cache",
        "ValueError: 4.0 GiB KV cache is needed, which is larger than the available KV cache memory (1.2 GiB). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.",
    ),
    ("ggml-memory", "llama_kv_cache: failed to allocate buffer for kv cache"),
    ("ggml-memory", "ggml_aligned_malloc: insufficient memory (attempted to allocate 8192.00 MB)"),
    ("ggml-memory", "error loading model: unable to allocate Vulkan0 buffer"),
    ("host-out-of-memory", "Killed process 9121 (ollama_llama_se) total-vm:52000000kB, anon-rss:30000000kB"),
    ("host-out-of-memory", "Last State: Terminated Reason: OOMKilled Exit Code: 137"),
    (
        "host-out-of-memory",
        "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 14.9 GiB for an array with shape (50000, 40000) and data type float64",
    ),
    ("mlx-refused", "RuntimeError: [malloc_or_wait] Unable to allocate 34359738368 bytes."),
    (
        "metal-out-of-memory",
        "RuntimeError: [METAL] Command buffer execution failed: Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory).",
    ),
    ("metal-language-version", "error: invalid value 'metal3.1' in '-std=metal3.1'"),
    ("metallib-missing", "Library not loaded: @rpath/libmlx.dylib"),
    ("mps-type", "RuntimeError: MPS does not support cumsum op with int64 input"),
    ("mps-type", "RuntimeError: BFloat16 is not supported on MPS"),
    (
        "tensors-on-two-devices",
        "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, mps:0 and cpu!",
    ),
    ("mps-type", "RuntimeError: MPS: Unsupported Border padding mode"),
    ("coreml-plan", "Core ML: The model is not supported on the Neural Engine; ANECCompile() FAILED"),
    ("amd-gpu-reset", "amdgpu 0000:03:00.0: amdgpu: ring vcn_unified_0 timeout, signaled seq=101, emitted seq=103"),
    ("amdgpu-error-line", "[drm:amdgpu_cs_ioctl [amdgpu]] *ERROR* Failed to initialize parser -125!"),
    (
        "rocm-memory-fault",
        "amdgpu: [gfxhub0] retry page fault (src_id:0 ring:0 vmid:3 pasid:32769, for process python3 pid 4242 thread python3 pid 4242)",
    ),
    ("amd-ecc", "amdgpu 0000:03:00.0: amdgpu: RAS: ECC uncorrectable error count 3 in umc block"),
    ("amdgpu-no-atomics", "kfd kfd: amdgpu: skipped device 1002:67df, PCI rejects atomics 730<0"),
    ("rocm-no-code", "RuntimeError: HIP error: no kernel image is available for execution on the device"),
    ("rocm-out-of-memory", "hipErrorOutOfMemory: out of memory"),
    ("rocm-no-code", "HSA_STATUS_ERROR_INVALID_ISA: The instruction set architecture is invalid."),
    (
        "rocm-library-slower",
        "MIOpen(HIP): Warning [IsEnoughWorkspace] [EvaluateInvokers] Solver <GemmFwdRest>, workspace required: 1073741824, provided ptr: 0 size: 0",
    ),
    (
        "hip-device-number",
        "RuntimeError: Unexpected error from hipGetDeviceCount(). Did you run some cuda functions before calling NumHipDevices() that might have already set an error? Error 101: hipErrorInvalidDevice",
    ),
    (
        "rocm-library-missing",
        "/opt/rocm/lib/libamdhip64.so.7: cannot open shared object file: No such file or directory",
    ),
    (
        "intel-failed",
        "RuntimeError: Native API failed. Native API returns: -997 (The plugin has emitted a backend specific error)",
    ),
    (
        "cuda-out-of-memory",
        "RuntimeError: PyTorch was compiled without XPU support; XPU out of memory. Tried to allocate 1.00 GiB",
    ),
    (
        "vulkan-failed",
        "terminate called after throwing an instance of 'vk::SystemError' what(): vk::PhysicalDevice::createDevice: ErrorInitializationFailed",
    ),
    (
        "oneapi-library-missing",
        "ImportError: libze_loader.so.1: cannot open shared object file: No such file or directory",
    ),
    ("openvino-device", "RuntimeError: Failed to create plugin libopenvino_intel_gpu_plugin.so for device GPU"),
    ("jax-versions", "RuntimeError: jaxlib is version 0.4.10, but this version of jax requires version >= 0.4.14."),
    ("xla-status-internal", "jax.errors.JaxRuntimeError: INTERNAL: CustomCall failed: cuSolver internal error"),
    (
        "tensorflow-factory",
        "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR; Unable to register cuBLAS factory: Attempting to register factory for plugin cuBLAS when one has already been registered",
    ),
    (
        "onnxruntime-model",
        "[ONNXRuntimeError] : 10 : INVALID_GRAPH : Load model from model.onnx failed:This is an invalid model. Type Error: Type 'tensor(int64)' of input parameter is invalid.",
    ),
    (
        "tensorrt-usage",
        "[TRT] [E] 3: [runtime.cpp::~Runtime::401] Error Code 3: API Usage Error (Parameter check failed at: runtime/rt/runtime.cpp::~Runtime::401, condition: mEngineCounter.use_count() == 1. Destroying a runtime before destroying deserialized engines created by the runtime leads to undefined behavior.)",
    ),
    (
        "cuda-out-of-memory",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 112.00 MiB. GPU 0 has a total capacity of 7.75 GiB of which 57.56 MiB is free. Process 2873 has 7.69 GiB memory in use.",
    ),
    ("cuda-out-of-memory", "(EngineCore_0 pid=81) torch.AcceleratorError: CUDA error: out of memory"),
    (
        "vllm-memory-at-start",
        "ValueError: Free memory on device (22.9/31.36 GiB) on startup is less than desired GPU memory utilization (0.95, 29.79 GiB).",
    ),
    (
        "sglang-memory cuda-out-of-memory",
        "[2025-10-02 12:00:01] Capture cuda graph failed: CUDA out of memory. Tried to allocate 500.00 MiB.",
    ),
    (
        "ggml-memory",
        "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 20480.00 MiB on device 0: cudaMalloc failed: out of memory",
    ),
    (
        "ggml-memory",
        "ggml_backend_metal_buffer_type_alloc_buffer: error: failed to allocate buffer, size = 12288.00 MiB",
    ),
    ("ggml-memory", "llama_model_load: error loading model: failed to allocate buffer"),
    (
        "ollama-memory",
        'time=2025-08-01 level=INFO msg="Load failed" error="memory layout cannot be allocated with num_gpu = 99"',
    ),
    (
        "xla-memory",
        "jaxlib._jax.XlaRuntimeError: RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 9.00G. That was not possible. There are 7.11G free.; (0x0x0_HBM0)",
    ),
    ("xla-memory", "2 root error(s) found. (0) RESOURCE_EXHAUSTED: failed to allocate memory"),
    (
        "cuda-out-of-memory",
        "FAIL : CUDA failure 2: out of memory ; GPU=0 ; hostname=host ; expr=cudaMalloc((void**)&p, size);",
    ),
    ("host-out-of-memory", "DefaultCPUAllocator: not enough memory: you tried to allocate 4294967296 bytes."),
    ("host-out-of-memory", "bash: line 1: 4242 Killed python train.py"),
    (
        "host-out-of-memory",
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: traceback: Signal 9 (SIGKILL) received by PID 4242",
    ),
    (
        "metal-command-failed",
        "-[MTLDebugComputeCommandEncoder setBuffer:offset:atIndex:]: failed assertion `offset must be less than buffer length'",
    ),
    (
        "ggml-metal-build",
        "MTLLibraryErrorDomain Code=3 \"program_source:12:10: fatal error: 'ggml-common.h' file not found\"",
    ),
    (
        "mlx-buffer-too-large",
        "zsh: abort python generate.py libc++abi: terminating due to uncaught exception of type std::runtime_error: [metal::malloc] Attempting to allocate 18000000000 bytes which is greater than the maximum allowed buffer size of 17179869184 bytes.",
    ),
    ("metallib-missing", "ImportError: dlopen(mlx/core.cpython-312-darwin.so): Symbol not found: __ZN3mlx4core5metal"),
    (
        "mps-float64",
        "TypeError: Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. Please use float32 instead.",
    ),
    (
        "mps-size",
        'loc("mps_matmul"("(mpsFileLoc)": error: incompatible dimensions LLVM ERROR: Failed to infer result type(s).',
    ),
    (
        "coreml-plan",
        'CoreML: Error Domain=com.apple.CoreML Code=0 "Failed to build the model execution plan using a model architecture file"',
    ),
    ("amd-gpu-reset", "amdgpu 0000:03:00.0: [drm] device wedged, but recovered through reset"),
    ("amdgpu-not-started", "amdgpu 0000:08:00.0: amdgpu: Failed to wait for GPU reset ACK; SMU: response:0xFFFFFFFF"),
    ("amdgpu-error-line", "amdgpu 0000:08:00.0: amdgpu: PSP firmware loading failed"),
    ("amd-gpu-reset", "amdgpu 0000:06:00.0: Fence fallback timer expired on ring sdma0"),
    ("rocm-no-device", "Warning: no GPU detected: ROCk module is NOT loaded, possibly no GPU devices"),
    (
        "rocm-out-of-resources",
        ":0:rocdevice.cpp:2724: Callback: Queue 0x7f aborting with error : HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources. Available Free mem : 12 MB",
    ),
    ("rocm-no-code", "RuntimeError: HIP error: shared object initialization failed"),
    (
        "rocblas-tensile",
        "rocBLAS error: Cannot read /opt/rocm/lib/rocblas/library/TensileLibrary.dat: Illegal seek for GPU arch : gfx1036",
    ),
    (
        "rocm-bad-call",
        "RuntimeError: FlashAttention on AMD: hipErrorInvalidConfiguration: invalid configuration argument",
    ),
    ("intel-failed", "level_zero backend failed with error: 2147483646 (UR_RESULT_ERROR_UNKNOWN)"),
    ("intel-driver-not-started", "i915 0000:00:02.0: [drm] *ERROR* GT0: GuC initialization failed -ENXIO"),
    (
        "openvino-gpu",
        "Error: [GPU] Exceeded max size of memory object allocation: requested 8589934592 bytes, but max alloc size supported by device is 4294959104 bytes.",
    ),
    (
        "jax-backend-failed",
        "RuntimeError: Unable to initialize backend 'rocm': NOT_FOUND: Could not find registered platform with name: \"rocm\". Available platform names are: CUDA",
    ),
    (
        "libcuda-missing cudnn-not-loaded",
        "Could not load library libcudnn_cnn_infer.so.8. Error: libcuda.so: cannot open shared object file: No such file or directory",
    ),
    (
        "tensorflow-factory",
        "2025-03-02 E external/local_xla/xla/stream_executor/cuda/cuda_fft.cc:477] Unable to register cuFFT factory: Attempting to register factory for plugin cuFFT when one has already been registered",
    ),
    (
        "onnxruntime-opset",
        "onnxruntime::Model::Model(...) Unsupported model IR version: 12, max supported IR version: 11",
    ),
    (
        "illegal-memory-access",
        "[TRT] [E] engine.cpp (1502) - Cuda Error in executeInternal: 700 (an illegal memory access was encountered)",
    ),
)
HEALTHY = (
    "ggml_metal_device_init: tensor API disabled for pre-M5 and pre-A19 devices",
    "ggml_metal_init: skipping kernel_get_rows_bf16 (not supported)",
    "ggml_metal_init: loaded kernel_add 0x1234 | th_max = 1024",
    "llama_kv_cache: CUDA0 KV buffer size = 512.00 MiB",
    "load_tensors: CUDA0 model buffer size = 4095.05 MiB",
    "INFO 11-02 10:00:00 gpu_worker.py:298] Available KV cache memory: 12.31 GiB",
    "INFO 11-02 10:00:00 kv_cache_utils.py] GPU KV cache size: 100,432 tokens",
    "XLA backend allocating 12884901888 bytes on device 0 for BFCAllocator.",
    "[TRT] [I] Loaded engine size: 120 MiB",
    "[TRT] [V] Registered plugin creator - ::BatchedNMS_TRT version 1",
    "amdgpu: SRAT table not found",
    "amdgpu 0000:03:00.0: amdgpu: Fetched VBIOS from VFCT",
    "amdgpu 0000:03:00.0: amdgpu: SMU is initialized successfully!",
    "amdgpu 0000:03:00.0: amdgpu: RAS: optional ras ta ucode is not available",
    "amdgpu 0000:03:00.0: amdgpu: RAP: optional rap ta ucode is not available",
    "amdgpu 0000:03:00.0: amdgpu: smu driver if version = 0x0000003d, smu fw if version = 0x00000040, smu fw program = 0",
    "amdgpu 0000:03:00.0: amdgpu: SMU driver if version not matched",
    "amdgpu 0000:03:00.0: amdgpu: ring gfx_0.0.0 uses VM inv eng 0 on hub 0",
    "kfd kfd: amdgpu: Allocated 3969056 bytes on gart",
    "i915 0000:00:02.0: [drm] Finished loading DMC firmware i915/adlp_dmc.bin (v2.20)",
    "i915 0000:00:02.0: [drm] GT0: GuC firmware i915/adlp_guc_70.bin version 70.20.0",
    "i915 0000:00:02.0: [drm] GT0: HuC: authenticated for all workloads",
    "xe 0000:03:00.0: [drm] Using GuC firmware from xe/bmg_guc_70.bin version 70.49.4",
    "MPS available: True",
    "CUDA MPS does not support this device mode",
    "NVIDIA MPS is not supported in this container",
    "In NumPy the error code 137 of another thing",
    "The reset of the amdgpu timeout was fixed in release 6.2, thanks",
    "We compared HIP and CUDA on the same device, but found at least no difference",
    "I switched from Core ML to MLX because CoreML was slower; no error",
    "2025-11-02 INFO Starting process with exit code 0",
    "memory: 137 GiB of 512 GiB used",
    "oneDNN custom operations are on. You may see slightly different numerical results",
    "Uninstalling intel-extension-for-pytorch",
    "Your GPU has 137 SMs; the card is killed in benchmarks",
    "vulkan: found 1 device: NVIDIA GeForce RTX 4090",
    "rocBLAS 4.2 with Tensile host ready",
    "jax.devices: [CudaDevice(id=0)]",
)


@pytest.mark.parametrize(("message", "line"), LINES, ids=[message for message, _line in LINES])
def test_a_line_of_a_program_is_the_message(message, line):
    (reading,) = read_all(line).readings
    assert reading.facts["message.symptoms"] == message


@pytest.mark.parametrize("line", HEALTHY)
def test_a_line_of_a_healthy_machine_is_no_message(line):
    assert not is_message(line)
