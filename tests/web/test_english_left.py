"""What counts as English on a page in Chinese (tools/english_left.py)."""

import pytest

from tools.english_left import count_words


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ("<p>显存 and bandwidth</p>", ["and", "bandwidth"]),
        ('<p><span lang="en">Nobody translated it</span></p>', ["Nobody", "it", "translated"]),
        (
            "<p>NVIDIA H100 SXM5 80GB, Apple M3 Max: PyTorch, cuDNN, bf16, 3,350 GB/s, torch.compile, --gpus all</p>",
            ["all"],
        ),
        ("<p><code>pip list</code><samp>no driver</samp><pre>a b</pre> 驱动</p>", []),
        ('<p><a href="https://x.example" rel="nofollow">A data sheet</a>: table</p>', ["table"]),
        ('<script>var words</script><p hidden>not seen</p><ol class="sources"><li>Gholami and others</li></ol>', []),
        ("<p>one<br>two</p><div hidden><p>three</p></div><p>four</p>", ["four", "one", "two"]),
        ('<a href="/zh-hans/machines/north/studio/">studio</a> <a href="/machines/add/">add</a>', ["add"]),
    ],
)
def test_what_is_a_word_of_english(html, words):
    assert sorted(count_words("/", html).english) == sorted(words)


def test_the_share_is_of_words_and_two_characters_are_one():
    page = count_words("/", "<p>显存带宽 memory</p>", given_names=["studio"])
    assert (page.chinese, page.english.total(), round(page.share, 3)) == (4, 1, 0.333)
    assert count_words("/", "<p>studio</p>", given_names=["studio"]).share == 0
