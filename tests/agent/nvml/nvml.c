/* A libnvidia-ml.so.1 that answers as the machine that FAKE_NVML names; tests/agent/nvml_library.py compiles it.
 *
 * Signatures, structures and codes: NVML API reference. Functions that are not here are not known to this driver.
 * Figures are those of spec sheets where there is one; the others are plausible and nothing more.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OK, UNINITIALIZED, INVALID, UNSUPPORTED, PERMISSION, INITIALIZED, NOT_FOUND, TOO_SMALL,
       NOT_LOADED = 9, LOST = 15, MISMATCH = 18 };
#define GIB (1ull << 30)
#define NO 0xffffffffu /* in the table: not supported */

typedef struct card {
    const char *name, *uuid, *bus;
    unsigned long long total, used; /* total 0: not supported */
    int major, minor, arch;
    unsigned pci, limit_mw, watts, sm_mhz, sm_max, mem_max, gen, gen_max, width, width_max, busy, heat, links, down;
    unsigned mig, display, cores, units, ecc, virtual_mode, processes, fabric, reasons;
    int lost, parent, addressing;
} card;

static card cards[16];
static int count, whole, sentinel;
static const char *driver = "580.95.05";

static card base(const char *name, const char *uuid, const char *bus) {
    card c = {.name = name, .uuid = uuid, .bus = bus, .gen = 4, .gen_max = 4, .width = 16, .width_max = 16,
              .heat = 36, .sm_mhz = 345, .mig = NO, .ecc = NO, .fabric = NO, .parent = -1, .addressing = -1,
              .reasons = 1};
    return c;
}

static card h100(int n) {
    static char uuid[8][48], bus[8][20];
    snprintf(uuid[n], sizeof uuid[n], "GPU-0000000%d-1111-2222-3333-444455556666", n);
    snprintf(bus[n], sizeof bus[n], "00000000:%02X:00.0", 0x18 + 8 * n);
    card c = base("NVIDIA H100 80GB HBM3", uuid[n], bus[n]);
    c.total = 85520809984ull, c.used = 500ull << 20, c.major = 9, c.arch = 9, c.pci = 0x233010DE;
    c.limit_mw = 700000, c.watts = 71000, c.sm_max = 1980, c.mem_max = 2619, c.gen = c.gen_max = 5, c.links = 18;
    c.mig = 0, c.cores = 16896, c.ecc = 1, c.fabric = 3, c.addressing = 1;
    return c;
}

static void machine_h100(void) {
    whole = count = 8;
    for (int n = 0; n < 8; n++) cards[n] = h100(n);
    cards[7].down = 1;
    cards[3].lost = 1;
    cards[2].used = 40 * GIB, cards[2].busy = 97, cards[2].processes = 2, cards[2].watts = 640000;
    cards[5].reasons = 0x48, cards[5].heat = 88, cards[5].busy = 99;
}

static void machine_geforce(void) {
    whole = count = 2;
    cards[0] = base("NVIDIA GeForce RTX 4090", "GPU-40900000-1111-2222-3333-444455556666", "00000000:01:00.0");
    cards[0].total = 25757220864ull, cards[0].used = 300ull << 20, cards[0].major = 8, cards[0].minor = 9;
    cards[0].arch = 8, cards[0].pci = 0x268410DE, cards[0].limit_mw = 450000, cards[0].watts = 22000;
    cards[0].sm_max = 3105, cards[0].mem_max = 10501, cards[0].cores = 16384, cards[0].ecc = 0, cards[0].addressing = 1;
    cards[1] = base("NVIDIA GeForce GT 1030", "GPU-10300000-1111-2222-3333-444455556666", "00000000:02:00.0");
    cards[1].total = 2 * GIB, cards[1].used = 120ull << 20, cards[1].major = 6, cards[1].minor = 1, cards[1].arch = 4;
    cards[1].pci = 0x1D0110DE, cards[1].sm_max = 1911, cards[1].mem_max = 3004, cards[1].cores = 384;
    cards[1].gen_max = cards[1].gen = 3, cards[1].width = cards[1].width_max = 4, cards[1].display = 1;
}

static card instance(const char *name, const char *uuid, unsigned long long total, unsigned units, int parent) {
    card c = base(name, uuid, "00000000:07:00.0");
    c.total = total, c.major = 8, c.arch = 7, c.units = units, c.parent = parent, c.busy = NO, c.heat = NO;
    c.width = c.width_max = c.gen = c.gen_max = NO;
    return c;
}

static void machine_mig(void) {
    whole = 2, count = 5;
    for (int n = 0; n < 2; n++) {
        cards[n] = base("NVIDIA A100-SXM4-80GB", n ? "GPU-a1000001-1111-2222-3333-444455556666"
                                                    : "GPU-a1000000-1111-2222-3333-444455556666",
                        n ? "00000000:0F:00.0" : "00000000:07:00.0");
        cards[n].total = 85899345920ull, cards[n].used = 430ull << 20, cards[n].major = 8, cards[n].arch = 7;
        cards[n].pci = 0x20B210DE, cards[n].limit_mw = 400000, cards[n].watts = 62000, cards[n].sm_max = 1410;
        cards[n].mem_max = 1593, cards[n].links = 12, cards[n].cores = 6912, cards[n].ecc = 1, cards[n].mig = !n;
        cards[n].busy = n ? 0 : NO, cards[n].fabric = 3;
    }
    cards[2] = instance("NVIDIA A100-SXM4-80GB MIG 3g.40gb", "MIG-00000000-0001-5000-8000-000000000001", 42 * GIB, 42, 0);
    cards[3] = instance("NVIDIA A100-SXM4-80GB MIG 2g.20gb", "MIG-00000000-0002-5000-8000-000000000002", 20 * GIB, 28, 0);
    cards[4] = instance("NVIDIA A100-SXM4-80GB MIG 1g.10gb", "MIG-00000000-0003-5000-8000-000000000003", 10 * GIB, 14, 0);
    cards[2].used = 30 * GIB, cards[2].processes = 1;
}

static void machine_gb10(void) {
    whole = count = 1;
    cards[0] = base("NVIDIA GB10", "GPU-6b100000-1111-2222-3333-444455556666", "0000000F:01:00.0");
    cards[0].major = 12, cards[0].minor = 1, cards[0].arch = 10, cards[0].pci = 0x2E1210DE, cards[0].watts = 11000;
    cards[0].sm_max = 3003, cards[0].mem_max = NO, cards[0].cores = 6144, cards[0].width = 1, cards[0].addressing = 2;
}

static void machine_vgpu(void) {
    whole = count = 1;
    cards[0] = base("NVIDIA A40-12Q", "GPU-40120000-1111-2222-3333-444455556666", "00000000:02:00.0");
    cards[0].total = 12 * GIB, cards[0].used = 900ull << 20, cards[0].major = 8, cards[0].minor = 6, cards[0].arch = 7;
    cards[0].pci = 0x223510DE, cards[0].sm_max = 1740, cards[0].mem_max = 7251, cards[0].cores = 10752;
    cards[0].virtual_mode = 2, cards[0].heat = NO, cards[0].width = cards[0].width_max = NO;
}

static void set_up(void) {
    const char *named = getenv("FAKE_NVML");
    named = named ? named : "h100";
    if (!strcmp(named, "geforce")) machine_geforce();
    else if (!strcmp(named, "mig")) machine_mig();
    else if (!strcmp(named, "gb10")) machine_gb10();
    else if (!strcmp(named, "vgpu")) machine_vgpu();
    else machine_h100();
    sentinel = !strcmp(named, "sentinel");
    if (sentinel) whole = count = 1;
}

int nvmlInitWithFlags(unsigned flags) {
    const char *named = getenv("FAKE_NVML");
    (void)flags;
    if (named && !strcmp(named, "mismatch")) return MISMATCH;
    if (named && !strcmp(named, "not-loaded")) return NOT_LOADED;
    if (named && !strcmp(named, "hang")) for (;;) pause();
    set_up();
    return OK;
}
int nvmlInit_v2(void) { return nvmlInitWithFlags(0); }
int nvmlShutdown(void) { return OK; }

const char *nvmlErrorString(int code) {
    return code == MISMATCH ? "Driver/library version mismatch" : code == NOT_LOADED ? "Driver Not Loaded" : "Unknown Error";
}

#define TEXT(to, size, from) return snprintf(to, size, "%s", from) < (int)(size) ? OK : TOO_SMALL
#define ASK(type, call, supported, figure)                                                   \
    int call(card *c, type *answer) {                                                       \
        if (c->lost) return LOST;                                                           \
        if (!(supported)) return UNSUPPORTED;                                               \
        *answer = sentinel ? (type)-1 : (type)(figure);                                     \
        return OK;                                                                          \
    }

int nvmlSystemGetDriverVersion(char *to, unsigned size) { TEXT(to, size, driver); }
int nvmlSystemGetNVMLVersion(char *to, unsigned size) { TEXT(to, size, "13.580.95.05"); }
int nvmlSystemGetCudaDriverVersion_v2(int *version) { return *version = 13000, OK; }
int nvmlDeviceGetCount_v2(unsigned *n) { return *n = whole, OK; }

int nvmlDeviceGetHandleByIndex_v2(unsigned n, card **c) {
    const char *named = getenv("FAKE_NVML");
    if (n >= (unsigned)whole) return INVALID;
    if (n == 1 && named && !strcmp(named, "crash")) raise(SIGSEGV);
    return cards[n].lost ? LOST : (*c = &cards[n], OK);
}

int nvmlDeviceGetMigDeviceHandleByIndex(card *parent, unsigned n, card **c) {
    for (int i = whole; i < count; i++)
        if (cards[i].parent == parent - cards && n-- == 0) return *c = &cards[i], OK;
    return NOT_FOUND;
}

int nvmlDeviceGetName(card *c, char *to, unsigned size) { TEXT(to, size, c->name); }
int nvmlDeviceGetUUID(card *c, char *to, unsigned size) { TEXT(to, size, c->uuid); }
int nvmlDeviceGetSerial(card *c, char *to, unsigned size) { TEXT(to, size, "1652823901234"); } /* never to be sent */
int nvmlDeviceGetVbiosVersion(card *c, char *to, unsigned size) {
    if (c->parent >= 0) return UNSUPPORTED;
    TEXT(to, size, "96.00.89.00.01");
}
int nvmlDeviceGetMemoryInfo(card *c, unsigned long long memory[3]) { /* total, free, used */
    if (!c->total) return UNSUPPORTED;
    memory[0] = c->total, memory[1] = c->total - c->used, memory[2] = c->used;
    if (sentinel) memory[0] = memory[1] = memory[2] = ~0ull;
    return OK;
}
int nvmlDeviceGetCudaComputeCapability(card *c, int *major, int *minor) {
    return *major = c->major, *minor = c->minor, OK;
}
ASK(unsigned, nvmlDeviceGetArchitecture, 1, c->arch)

typedef struct { char legacy[16]; unsigned domain, bus, device, id, board; char text[32]; } pci;
int nvmlDeviceGetPciInfo_v3(card *c, pci *p) {
    memset(p, 0, sizeof *p);
    p->id = c->pci, p->board = 0x16C110DE;
    snprintf(p->text, sizeof p->text, "%s", c->bus);
    return c->parent >= 0 ? UNSUPPORTED : OK;
}

ASK(unsigned, nvmlDeviceGetPersistenceMode, c->parent < 0, 1)
ASK(unsigned, nvmlDeviceGetDisplayMode, c->parent < 0, c->display)
ASK(unsigned, nvmlDeviceGetComputeMode, 1, 0)
ASK(unsigned, nvmlDeviceGetVirtualizationMode, 1, c->virtual_mode)
ASK(unsigned, nvmlDeviceGetNumGpuCores, c->cores, c->cores)
ASK(unsigned, nvmlDeviceGetMemoryBusWidth, c->total && c->parent < 0, 5120)
ASK(unsigned, nvmlDeviceGetEnforcedPowerLimit, c->limit_mw, c->limit_mw)
ASK(unsigned, nvmlDeviceGetPowerManagementDefaultLimit, c->limit_mw, c->limit_mw)
ASK(unsigned, nvmlDeviceGetPowerUsage, c->watts, sentinel ? 0x7fffffff : c->watts)
ASK(unsigned, nvmlDeviceGetCurrPcieLinkGeneration, c->gen != NO, c->gen)
ASK(unsigned, nvmlDeviceGetMaxPcieLinkGeneration, c->gen_max != NO, c->gen_max)
ASK(unsigned, nvmlDeviceGetCurrPcieLinkWidth, c->width != NO, c->width)
ASK(unsigned, nvmlDeviceGetMaxPcieLinkWidth, c->width_max != NO, c->width_max)
ASK(unsigned, nvmlDeviceGetMaxMigDeviceCount, c->mig != NO, 7)
ASK(unsigned long long, nvmlDeviceGetCurrentClocksEventReasons, c->parent < 0, c->reasons)

/* Of a H100: its power since the machine started, in steps of 20 ms. FAKE_NVML_READS names a file to which each reading
 * is added: nanoseconds, millijoules. */
int nvmlDeviceGetTotalEnergyConsumption(card *c, unsigned long long *mj) {
    const char *file = getenv("FAKE_NVML_READS");
    struct timespec t;
    if (c->lost) return LOST;
    if (c->major != 9 || c->parent >= 0) return UNSUPPORTED;
    clock_gettime(CLOCK_MONOTONIC, &t);
    unsigned long long ms = t.tv_sec * 1000ull + t.tv_nsec / 1000000;
    *mj = sentinel ? ~0ull : c->watts * (ms - ms % 20) / 1000; /* the field holds milliwatts */
    FILE *reads = file ? fopen(file, "a") : NULL;
    if (reads) fprintf(reads, "%llu %llu\n", t.tv_sec * 1000000000ull + t.tv_nsec, *mj), fclose(reads);
    return OK;
}

int nvmlDeviceGetPowerManagementLimitConstraints(card *c, unsigned *least, unsigned *most) {
    return c->limit_mw ? (*least = 200000, *most = sentinel ? NO : c->limit_mw, OK) : UNSUPPORTED;
}
int nvmlDeviceGetMaxClockInfo(card *c, int type, unsigned *mhz) {
    unsigned figure = type == 1 ? c->sm_max : type == 2 ? c->mem_max : NO;
    return figure == NO || !figure ? UNSUPPORTED : (*mhz = sentinel ? NO : figure, OK);
}
int nvmlDeviceGetClockInfo(card *c, int type, unsigned *mhz) {
    if (c->parent >= 0 || (type == 2 && c->mem_max == NO)) return UNSUPPORTED;
    return *mhz = sentinel ? NO : type == 1 ? c->sm_mhz : c->mem_max, OK;
}
int nvmlDeviceGetMigMode(card *c, unsigned *now, unsigned *later) {
    return c->mig == NO ? UNSUPPORTED : (*now = *later = sentinel ? NO : c->mig, OK);
}
int nvmlDeviceGetEccMode(card *c, unsigned *now, unsigned *later) {
    return c->ecc == NO ? UNSUPPORTED : (*now = *later = c->ecc, OK);
}
int nvmlDeviceGetTotalEccErrors(card *c, int kind, int counter, unsigned long long *errors) {
    if (c->ecc == NO || !c->ecc) return UNSUPPORTED;
    return *errors = sentinel ? ~0ull : counter && !kind ? 12 : 0, OK; /* twelve were corrected in its life */
}
int nvmlDeviceGetRemappedRows(card *c, unsigned *corrected, unsigned *not, unsigned *pending, unsigned *failed) {
    return c->ecc == NO || !c->ecc ? UNSUPPORTED : (*corrected = 2, *not = *pending = *failed = 0, OK);
}
typedef struct { unsigned version, value; } versioned;
int nvmlDeviceGetAddressingMode(card *c, versioned *mode) {
    return c->addressing < 0 ? UNSUPPORTED : (mode->value = c->addressing, OK);
}
int nvmlDeviceGetTemperature(card *c, int sensor, unsigned *degrees) {
    (void)sensor;
    return c->heat == NO ? UNSUPPORTED : (*degrees = sentinel ? NO : c->heat, OK);
}
int nvmlDeviceGetTemperatureThreshold(card *c, int threshold, unsigned *degrees) {
    return threshold > 1 || c->heat == NO ? UNSUPPORTED : (*degrees = threshold ? 87 : 92, OK);
}
int nvmlDeviceGetUtilizationRates(card *c, unsigned rates[2]) {
    return c->busy == NO ? UNSUPPORTED : (rates[0] = rates[1] = sentinel ? NO : c->busy, OK);
}

/* ---- links, fabric, processes, fields, instances ---------------------------------------------------------------- */

int nvmlDeviceGetNvLinkState(card *c, unsigned link, unsigned *up) {
    return link >= c->links ? (c->links ? INVALID : UNSUPPORTED) : (*up = link >= c->down, OK);
}
int nvmlDeviceGetNvLinkVersion(card *c, unsigned link, unsigned *version) {
    return link >= c->links ? (c->links ? INVALID : UNSUPPORTED) : (*version = c->major == 9 ? 4 : 3, OK);
}
int nvmlDeviceGetNvLinkRemoteDeviceType(card *c, unsigned link, unsigned *type) {
    return link >= c->links ? INVALID : (*type = 2, OK); /* all of them lead to NVSwitches */
}
int nvmlDeviceGetTopologyCommonAncestor(card *one, card *other, unsigned *level) {
    return *level = (one - cards) / 4 == (other - cards) / 4 ? 40 : 50, OK;
}
typedef struct { unsigned version; uint8_t cluster[16]; unsigned status, clique; uint8_t state; unsigned health;
                 uint8_t summary; } fabric;
int nvmlDeviceGetGpuFabricInfoV(card *c, fabric *f) {
    if (c->fabric == NO) return UNSUPPORTED;
    return f->status = OK, f->clique = 0, f->state = c->fabric, f->health = 0, OK;
}
typedef struct { unsigned pid; unsigned long long memory; unsigned instance, compute; } process;
int nvmlDeviceGetComputeRunningProcesses_v3(card *c, unsigned *n, process *list) {
    if (*n < c->processes) return *n = c->processes, TOO_SMALL;
    *n = c->processes;
    for (unsigned i = 0; i < *n; i++) list[i] = (process){4000000 + i, c->used / *n, NO, NO};
    return OK;
}
typedef struct { unsigned id, scope; int64_t time, latency; int type, code; union { double d; unsigned u;
                 unsigned long long w; } value; } field;
int nvmlDeviceGetFieldValues(card *c, int n, field *fields) {
    for (int i = 0; i < n; i++) {
        fields[i].code = UNSUPPORTED;
        if (fields[i].id == 82 && c->total > 40 * GIB && c->parent < 0) /* temperature of the memory */
            fields[i].code = OK, fields[i].type = 1, fields[i].value.u = sentinel ? NO : c->heat + 9;
    }
    return OK;
}
typedef struct { unsigned units, copy, decode, encode, jpeg, flow, slices, parts; unsigned long long megabytes; } share;
int nvmlDeviceGetAttributes_v2(card *c, share *s) {
    return c->units ? (memset(s, 0, sizeof *s), s->units = c->units, s->megabytes = c->total >> 20, OK) : INVALID;
}
