"""Searches, and where one of the first three results must lead. By query; a part of the address is enough."""

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
    "RuntimeError: CUDA error: no kernel image is available for execution on the device": "/causes/no-kernel-image/",
    "AssertionError: Torch not compiled with CUDA enabled": "/causes/torch-without-cuda/",
    "CUDA driver version is insufficient for CUDA runtime version": "/causes/driver-too-old/",
    "nvidia-smi has failed because it couldn't communicate with the NVIDIA driver": "/causes/smi-cannot-communicate/",
    "Failed to initialize NVML: Driver/library version mismatch": "/causes/nvml-version-mismatch/",
    "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a "
    "driver from http://www.nvidia.com/Download/index.aspx": "/causes/no-nvidia-driver/",
    "NotImplementedError: The operator 'aten::_linalg_svd' is not currently implemented for the MPS device. If you "
    "want this op": "/causes/mps-operator-missing/",
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB": "/causes/cuda-out-of-memory/",
    "ImportError: libcusparse.so.12: undefined symbol: __nvJitLinkAddData_12_1": "/causes/nvjitlink-symbol/",
    "TypeError: Cannot convert a MPS Tensor to float64 dtype": "/causes/mps-float64/",
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
    "稀疏": "/glossary/#",
    "寒武纪": "/accelerators/cambricon-",
    "矩阵乘法": "/operators/matmul/",
    "注意力": "/operators/attention/",
    "功耗": "tdp_w",
    "显存不足": "/causes/cuda-out-of-memory/",
    "英伟达驱动": "/components/nvidia-driver/",
    "半精度": "sort=-fp16_tensor_tflops",
    "每瓦性能": "/explore/",
    "摩尔线程": "/accelerators/moore-threads-",
    "4090 对比 5090": "/compare/?a=nvidia-geforce-rtx-4090&a=nvidia-geforce-rtx-5090",
    "安装 pytorch": "/plan/",
}
# What software for which accelerator: the plan, or the sheet where no plan can be made.
QUESTIONS = {
    "pytorch for gtx 1080 ti": "/plan/?accelerator=nvidia-geforce-gtx-1080-ti",
    "cuda for rtx 3060": "/plan/?accelerator=nvidia-geforce-rtx-3060",
    "install pytorch m2": "/plan/?accelerator=apple-m2-",
    "driver for rtx 4090": "/plan/?accelerator=nvidia-geforce-rtx-4090",
    "torch on mi300x": "/plan/?accelerator=amd-mi300x",
    "which CUDA version for H100?": "/plan/?accelerator=nvidia-h100-",
    "pytroch rtx 5090 windows": "/plan/?accelerator=nvidia-geforce-rtx-5090&system=windows-x86_64",
    "gtx 1080 ti 装 pytorch": "/plan/?accelerator=nvidia-geforce-gtx-1080-ti",
    "rtx 4090 显卡驱动怎么装": "/plan/?accelerator=nvidia-geforce-rtx-4090",
    "昇腾 910B pytorch": "/plan/?accelerator=huawei-ascend-910b",
}
SEARCHES = {**PLAIN, **ERRORS, **TYPOS, **CHINESE, **QUESTIONS}
