"""What the memory of each kind and the compute units of each generation do in a clock: the tables behind the formulas.

Operations count a multiplication and an addition as two. A new generation is a line of `DESIGNS`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

# Gbit/s of one pin, from the slowest to the fastest that is sold. JEDEC: JESD212 (GDDR5), JESD232 (GDDR5X), JESD250
# (GDDR6), JESD239 (GDDR7), JESD235 (HBM2, HBM2E), JESD238 (HBM3, HBM3E), JESD209-4 and -5 (LPDDR); Micron (GDDR6X).
PIN_RATES: dict[str, tuple[float, float]] = {
    "GDDR5": (3.2, 9.0),
    "GDDR5X": (10.0, 12.0),
    "GDDR6": (10.0, 20.0),
    "GDDR6X": (19.0, 24.0),
    "GDDR7": (24.0, 32.0),
    "HBM2": (1.4, 2.45),
    "HBM2E": (2.8, 3.6),
    "HBM3": (4.8, 6.4),
    "HBM3E": (5.8, 9.8),
    "LPDDR4": (1.6, 4.27),
    "LPDDR4X": (2.1, 4.27),
    "LPDDR5": (3.2, 6.4),
    "LPDDR5X": (6.4, 10.7),
}

# Of kinds that are sold in few speeds, each of them: a rate between two is that of no memory chip. JEDEC JESD239.
PIN_STEPS: dict[str, tuple[float, ...]] = {"GDDR7": (24.0, 28.0, 30.0, 32.0)}

# GB that one GDDR chip holds; each has 32 data lines, or 16 where two share them (clamshell), on both sides of a board.
# JESD212, 232, 250 and 239.
CHIP_SIZES_GB = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
LINES_OF_A_CHIP = 32


@dataclass(frozen=True, slots=True)
class Design:
    """One generation of compute units: fp32 lanes and matrix units of one, and its operations in one clock by field.

    Dense rates; of a rate that depends on it, that with fp16 accumulate. A field that is left out is not judged.
    """

    lanes: int
    operations: Mapping[str, int]
    matrix_units: int = 0


def _matrix(tf32: int = 0, fp16: int = 0, int8: int = 0, int4: int = 0, fp8: int = 0, fp4: int = 0) -> dict[str, int]:
    operations = {
        "tf32_tensor_tflops": tf32,
        "fp16_tensor_tflops": fp16,
        "bf16_tensor_tflops": fp16,
        "fp8_tensor_tflops": fp8,
        "fp4_tensor_tflops": fp4,
        "int8_tensor_tops": int8,
        "int4_tensor_tops": int4,
    }
    return {field: number for field, number in operations.items() if number}


def _vector(fp64: int, fp32: int, fp16: int = 0, fp64_tensor: int = 0) -> dict[str, int]:
    operations = {"fp64_tflops": fp64, "fp32_tflops": fp32, "fp16_tflops": fp16, "fp64_tensor_tflops": fp64_tensor}
    return {field: number for field, number in operations.items() if number}


# NVIDIA: CUDA C++ Programming Guide, table of arithmetic instructions per clock and SM (results; two operations each),
# and the architecture white papers for tensor cores.
_VOLTA = Design(64, {**_vector(64, 128, 256), "fp16_tensor_tflops": 1024}, 8)
_TURING = Design(64, {**_vector(4, 128, 256), **_matrix(fp16=1024, int8=2048, int4=4096)}, 8)
_GA100 = Design(64, {**_vector(64, 128, 512, 128), **_matrix(1024, 2048, 4096, 8192)}, 4)
_GA10X = Design(128, {**_vector(4, 256, 256), **_matrix(512, 1024, 2048, 4096)}, 4)
_ADA = Design(128, {**_vector(4, 256, 256), **_matrix(512, 1024, 2048, 4096, fp8=2048)}, 4)
_HOPPER = Design(128, {**_vector(128, 256, 512, 256), **_matrix(2048, 4096, 8192, fp8=8192)}, 4)
_GB100 = Design(128, {**_vector(128, 256, 0, 128), **_matrix(4096, 8192, 16384, fp8=16384, fp4=32768)}, 4)
# Blackwell Ultra prints fp4 and int8 at clocks of their own, and fp4 with sparsity as less than twice the dense rate.
_GB110 = Design(128, {**_vector(4, 256), **_matrix(4096, 8192, fp8=16384)}, 4)
_GB20X = Design(128, {**_vector(4, 256, 256), **_matrix(512, 1024, 2048, fp8=2048, fp4=4096)}, 4)
_ORIN = Design(128, {**_vector(4, 256, 512), **_matrix(1024, 2048, 4096)}, 4)
# AMD: white papers of CDNA to CDNA 4, operations per clock and compute unit; RDNA issues two fp32 instructions at once.
_CDNA = {**_vector(64, 128), "fp16_tensor_tflops": 1024, "bf16_tensor_tflops": 512, "int8_tensor_tops": 1024}
_CDNA_2 = {**_vector(128, 128, 0, 256), **_matrix(0, 1024, 1024)}
_CDNA_3 = {**_vector(128, 256, 0, 256), **_matrix(1024, 2048, 4096, fp8=4096)}
_CDNA_4 = {**_vector(128, 256, 0, 128), **_matrix(0, 4096, 8192, fp8=8192, fp4=16384)}

# By compute capability, Metal family, or architecture where one design bears the name.
DESIGNS: dict[str, Design] = {
    "3.7": Design(192, _vector(128, 384)),
    "5.0": Design(128, _vector(8, 256)),
    "5.2": Design(128, _vector(8, 256)),
    "5.3": Design(128, _vector(8, 256, 512)),
    "6.0": Design(64, _vector(64, 128, 256)),
    "6.1": Design(128, _vector(8, 256, 4)),
    "6.2": Design(128, _vector(8, 256, 512)),
    "7.0": _VOLTA,
    "7.2": Design(64, {**_vector(64, 128, 256), **_matrix(fp16=1024, int8=2048)}, 8),
    "7.5": _TURING,
    "8.0": _GA100,
    "8.6": _GA10X,
    "8.7": _ORIN,
    "8.9": _ADA,
    "9.0": _HOPPER,
    "10.0": _GB100,
    "10.3": _GB110,
    "11.0": Design(128, {"fp32_tflops": 256, **_matrix(fp16=8192, fp8=16384, fp4=32768)}, 4),
    "12.0": _GB20X,
    "12.1": _GB20X,
    "Ada Lovelace": _ADA,
    "Hopper": _HOPPER,
    "Blackwell Ultra": _GB110,
    "GCN 5.1": Design(64, _vector(64, 128, 256)),
    "CDNA": Design(64, _CDNA),
    "CDNA 2": Design(64, _CDNA_2),
    "CDNA 3": Design(64, _CDNA_3),
    "CDNA 4": Design(64, _CDNA_4),
    "RDNA 3": Design(64, _vector(8, 256, 512)),
    "RDNA 4": Design(64, _vector(8, 256, 512)),
    # Apple: fp16 runs at the rate of fp32 up to Apple8 (philipturner/metal-benchmarks); of later ones it is not known.
    "Apple7": Design(128, _vector(0, 256, 256)),
    "Apple8": Design(128, _vector(0, 256, 256)),
    "Apple9": Design(128, _vector(0, 256)),
    "Apple10": Design(128, _vector(0, 256)),
    # Intel: Xe-core of Ponte Vecchio and Alchemist, operations per clock (oneAPI GPU optimization guide).
    "Ponte Vecchio (Xe-HPC)": Design(128, {**_vector(256, 256), **_matrix(2048, 4096, 8192)}, 8),
    "Xe-HPG (Alchemist)": Design(128, {**_vector(0, 256), **_matrix(0, 2048, 4096)}, 16),
}

# The month in which each architecture was first shown, by its name on the sheets. From the newsrooms of their vendors;
# a product announced together with it has the same month.
ARCHITECTURES_SINCE: dict[str, str] = {
    "Kepler": "2012-03",
    "Maxwell": "2014-02",
    "Pascal": "2016-04",
    "Volta": "2017-05",
    "Turing": "2018-08",
    "Ampere": "2020-05",
    "Hopper": "2022-03",
    "Ada Lovelace": "2022-09",
    "Blackwell": "2024-03",
    "Blackwell Ultra": "2025-03",
    "GCN 5.1": "2018-11",
    "CDNA": "2020-11",
    "CDNA 2": "2021-11",
    "CDNA 3": "2023-01",
    "CDNA 4": "2024-06",
    "RDNA 2": "2020-10",
    "RDNA 3": "2022-11",
    "RDNA 4": "2025-01",
    "Xe-HPG (Alchemist)": "2021-08",
    "Xe2 (Battlemage)": "2024-12",
    "Ponte Vecchio (Xe-HPC)": "2021-08",
}

# The month in which Apple showed each Mac, by identifier. From Apple's newsroom.
_MACS: dict[str, str] = {
    "2020-11": "MacBookAir10,1 MacBookPro17,1 Macmini9,1",
    "2021-04": "iMac21,1 iMac21,2",
    "2021-10": "MacBookPro18,1 MacBookPro18,2 MacBookPro18,3 MacBookPro18,4",
    "2022-03": "Mac13,1 Mac13,2",
    "2022-06": "Mac14,2 Mac14,7",
    "2023-01": "Mac14,3 Mac14,5 Mac14,6 Mac14,9 Mac14,10 Mac14,12",
    "2023-06": "Mac14,8 Mac14,13 Mac14,14 Mac14,15",
    "2023-10": "Mac15,3 Mac15,4 Mac15,5 Mac15,6 Mac15,7 Mac15,8 Mac15,9 Mac15,10 Mac15,11",
    "2024-03": "Mac15,12 Mac15,13",
    "2024-10": "Mac16,1 Mac16,2 Mac16,3 Mac16,5 Mac16,6 Mac16,7 Mac16,8 Mac16,10 Mac16,11",
    "2025-03": "Mac15,14 Mac16,9 Mac16,12 Mac16,13",
    "2025-10": "Mac17,2",
    "2026-03": "Mac17,3 Mac17,4 Mac17,6 Mac17,7 Mac17,8 Mac17,9",
}
MACS_SINCE: dict[str, str] = {name: month for month, names in _MACS.items() for name in names.split(" ")}

# What a form factor can supply at most, in watts; the first that a sheet names counts. PCI-SIG, Card Electromechanical
# specification (75 W from the slot, 600 W from a 12V-2x6 plug); OCP Accelerator Module 2.0 with liquid cooling.
FORM_FACTOR_WATTS: dict[str, float] = {
    "low-profile": 75.0,
    "PCIe": 675.0,
    "OAM": 1400.0,
    "SXM2": 350.0,
    "SXM3": 450.0,
    "SXM4": 500.0,
    "SXM": 1400.0,
}
