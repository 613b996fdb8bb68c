"""Searches, and where one of the first three results must lead. By query; the second part of the addresses is enough."""

PLAIN = {
    "conv2d": "/operators/conv2d/",
    "cuDNN": "/components/cudnn/",
    "MPS": "/components/mps/",
    "sm_90": "/accelerators/nvidia-h100",
    "macbook pro m3": "/accelerators/apple-m3-10/",
    "RTX 4090 Laptop": "/accelerators/nvidia-geforce-rtx-4090/",
    "rtx4090": "/accelerators/nvidia-geforce-rtx-4090/",
    "Mac15,9": "/accelerators/apple-m3-max-40/",
    "memory bandwidth": "sort=-memory_bandwidth_gb_s",
    "llama 3.1 8b": "/fit/?model=llama-3.1-8b",
}
ERRORS = {
    "RuntimeError: CUDA error: no kernel image is available for execution on the device": "/components/pytorch/",
    "AssertionError: Torch not compiled with CUDA enabled": "/components/pytorch/",
    "CUDA driver version is insufficient for CUDA runtime version": "/components/cuda-runtime/",
    "nvidia-smi has failed because it couldn't communicate with the NVIDIA driver": "/components/nvidia-driver/",
    "Failed to initialize NVML: Driver/library version mismatch": "/components/nvidia-driver/",
    "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a "
    "driver from http://www.nvidia.com/Download/index.aspx": "/components/nvidia-driver/",
    "NotImplementedError: The operator 'aten::_linalg_svd' is not currently implemented for the MPS device. If you "
    "want this op": "/components/mps/",
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB": "/fit/",
    "ImportError: libcusparse.so.12: undefined symbol: __nvJitLinkAddData_12_1": "/components/cuda-runtime/",
    "TypeError: Cannot convert a MPS Tensor to float64 dtype": "/components/mps/",
}
TYPOS = {
    "hoper": "/accelerators/nvidia-",
    "memory bandwith": "sort=-memory_bandwidth_gb_s",
    "pytroch": "/components/pytorch/",
    "cu dnn": "/components/cudnn/",
    "nvida h100": "/accelerators/nvidia-h100",
    "tripton": "/components/triton/",
    "radeon rx 9070 xtt": "/accelerators/amd-rx-9070-xt/",
    "babelstrem": "/benchmarks/babelstream/",
    "sofmax": "/operators/softmax/",
    "instnct mi300x": "/accelerators/amd-mi300x/",
}
CHINESE = {
    "昇腾": "/accelerators/huawei-ascend-",
    "昇腾 910B": "/accelerators/huawei-ascend-910b/",
    "英伟达 H100": "/accelerators/nvidia-h100",
    "苹果 M4 Max": "/accelerators/apple-m4-max-",
    "显存带宽": "memory_bandwidth_gb_s",
    "张量核心": "tensor-core",
    "卷积": "/operators/conv2d/",
    "统一内存": "unified-memory",
    "稀疏": "/learn/#",
    "寒武纪": "/accelerators/cambricon-",
}
SEARCHES = {**PLAIN, **ERRORS, **TYPOS, **CHINESE}
