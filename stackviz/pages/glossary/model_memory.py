"""Where the memory goes when a model trains or answers."""

from django.utils.translation import gettext_lazy as _

from stackviz.pages.glossary.terms import Chapter, Term

MODEL_MEMORY = Chapter(
    "model-memory-chapter",
    _("Memory of a model"),
    (
        Term(
            "model-memory",
            _("Memory of a model"),
            _(
                "Training holds parameters, gradients, the optimizer's state, activations, and what the software "
                "itself needs. With Adam in mixed precision the first three take about 16 bytes per parameter: 2 "
                "for the weights, 2 for their gradients, 12 for the fp32 copy and two moments. 7 billion "
                "parameters are 112 GB before the first activation. For inference alone it is the weights and the "
                "cache of keys and values."
            ),
            "Rajbhandari et al., ZeRO, 2020, section 3",
            "https://arxiv.org/abs/1910.02054",
        ),
        Term(
            "parameters",
            _("Parameters"),
            _(
                "The weights: their number times the bytes of their type. 7 billion in bf16 are 14 GB, in 4 bits "
                "about 3.5 GB with a little more for the scales."
            ),
            "Rajbhandari et al., ZeRO, 2020",
            "https://arxiv.org/abs/1910.02054",
        ),
        Term(
            "gradients",
            _("Gradients"),
            _(
                "One number per parameter, mostly in the type of the forward pass, kept from the backward pass to "
                "the optimizer step. Adding up over several small batches keeps them longer and needs no more of "
                "them."
            ),
            "Rajbhandari et al., ZeRO, 2020",
            "https://arxiv.org/abs/1910.02054",
        ),
        Term(
            "optimizer-state",
            _("Optimizer state"),
            _(
                "Adam keeps two moments per parameter, and with 16-bit weights an fp32 copy of them: 12 bytes per "
                "parameter. Plain SGD keeps nothing or one momentum. ZeRO and FSDP share it out over machines."
            ),
            "Kingma and Ba, Adam, 2014",
            "https://arxiv.org/abs/1412.6980",
        ),
        Term(
            "activations",
            _("Activations"),
            _(
                "What the forward pass leaves for the backward pass. It grows with batch, sequence length and "
                "layers, not with the number of parameters; in a transformer's layer it is about s·b·h·(34 + "
                "5·a·s/h) bytes for 16-bit types, with sequence s, batch b, width h and a heads. Computing it "
                "again in the backward pass (checkpointing) saves most of it."
            ),
            "Korthikanti et al., Reducing Activation Recomputation, 2022, section 4",
            "https://arxiv.org/abs/2205.05198",
        ),
        Term(
            "kv-cache",
            _("Cache of keys and values"),
            _(
                "A language model that writes keeps two vectors per layer and token read: 2 × layers × heads × "
                "width of a head × bytes, for each sequence. Long contexts can need more of it than the weights."
            ),
            "Kwon et al., PagedAttention, 2023",
            "https://arxiv.org/abs/2309.06180",
        ),
        Term(
            "cuda-context",
            _("CUDA context"),
            _(
                "Every process that touches a GPU holds some hundred MB on it before the first tensor: the "
                "context, its code and the libraries'. It is not in torch.cuda.memory_allocated(), but nvidia-smi "
                "counts it."
            ),
            "PyTorch: CUDA semantics, memory management",
            "https://docs.pytorch.org/docs/stable/notes/cuda.html",
        ),
        Term(
            "allocator-cache",
            _("Allocator cache"),
            _(
                "PyTorch gives freed memory back to its own pool, not to the driver, so nvidia-smi shows the most "
                "that was ever needed. memory_allocated() is what tensors hold, memory_reserved() what the pool "
                "holds; the difference can be fragmented."
            ),
            "PyTorch: CUDA semantics, memory management",
            "https://docs.pytorch.org/docs/stable/notes/cuda.html",
        ),
    ),
)
