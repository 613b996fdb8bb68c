"""What several cards of one kind measured together is ranked as theirs, in a setting that says how many there were."""

import pytest
from django.core.cache import cache

from stackviz.records.series.measured_settings import measured_settings
from stackviz.records.series.models import Series
from tests.pages.benchmarks.machines import paste_llama_bench
from tests.pages.machines.factories import make_lab
from tests.report.importers.own_dump import fixture
from tests.responses import words_of

NCCL, NVBANDWIDTH = fixture("dumps/tools/nccl_tests.txt"), fixture("dumps/tools/nvbandwidth.txt")
A100_40GB = "nvidia-a100-sxm4-40gb"

pytestmark = [pytest.mark.usefixtures("curated"), pytest.mark.django_db]


@pytest.fixture(autouse=True)
def _nothing_cached(settings, tmp_path):
    settings.VAR_DIR = tmp_path
    cache.clear()


@pytest.fixture
def paste(django_user_model):
    lab = make_lab("north")
    user = django_user_model.objects.create_user("member")
    lab.memberships.create(user=user)
    return lambda text: paste_llama_bench(lab, user, text=text)


def test_a_collective_is_ranked_by_its_bus_bandwidth(client, paste):
    paste(NCCL)
    settings = {setting.words: setting for setting in measured_settings("nccl-tests")}
    largest = settings["all-reduce out-of-place fp32 1.07 GB cards=4"]
    (row,) = largest.rows
    assert (row.accelerator.slug, row.best.rate.label) == (A100_40GB, "91.4 GB/s")
    text = words_of(client.get("/benchmarks/nccl-tests/", {"measured": largest.key}))
    assert "all_reduce_perf -b 1073741824 -e 1073741824 -d float -g 4" in text
    assert client.get("/benchmarks/nccl-tests/definition/").status_code == 404
    assert "/benchmarks/nccl-tests/definition/" not in client.get("/benchmarks/nccl-tests/").content.decode()


def test_pairs_of_cards_share_a_setting_and_cards_have_series(paste):
    paste(NVBANDWIDTH)
    words = {setting.words: setting for setting in measured_settings("nvbandwidth")}
    (pair,) = words["device_to_device_memcpy_read_ce cards=2"].rows
    assert (pair.accelerator.slug, pair.best.rate.label) == (A100_40GB, "276 GB/s")
    host = Series.objects.filter(benchmark="nvbandwidth", params__test="host_to_device_memcpy_ce")
    assert sorted(host.values_list("device", "card_index")) == [("cuda:0", 0), ("cuda:1", 1)]


def test_cards_of_two_kinds_are_none_of_them(paste):
    paste(NVBANDWIDTH.replace("Device 1: NVIDIA A100-SXM4-40GB", "Device 1: NVIDIA A100-SXM4-80GB"))
    pairs = [setting for setting in measured_settings("nvbandwidth") if "device_to_device" in setting.words]
    assert pairs == []
