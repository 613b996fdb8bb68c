"""What opens doors is taken out, however it is written."""

import pytest

from stackviz.report.dumps.masking import mask_text

KEY = "wJalrXUtnFEMIK7MDENGbPxRfiCY"


@pytest.mark.parametrize(
    "text",
    [
        "HF_TOKEN: {}", "HF_TOKEN={}", "'AWS_SECRET_ACCESS_KEY': '{}'", '"HF_TOKEN": "{}"', "aws_secret_access_key = {}",
        "AWS_ACCESS_KEY_ID={}", "OPENAI_API_KEY: {}", "password: {}", "DB_PASS={}", "MYSQL_PWD={}", "SECRET={}",
        "CLIENT_SECRET={}", "X_KEY={}", "Authorization: Bearer {}", "authorization: {}", "Bearer {}", "xoxb-{}", "hf_{}",
        "npm_{}", "pypi-{}", "https://x.example/y?X-Amz-Signature={}&z=1", "https://x.example/y?token={}",
        "https://me:{}@x.example", "eyJhbGciOiJIUzI1NiJ9.{}.abc",
        "-----BEGIN RSA PRIVATE KEY-----\n{}\n{}\n-----END RSA PRIVATE KEY-----",
    ],
)  # fmt: skip
def test_a_secret_is_taken_out_and_its_name_stays(text):
    masked = mask_text(text.replace("{}", KEY))
    assert KEY not in masked
    assert "[redacted]" in masked
    assert masked.count("\n") == text.count("\n")
    assert mask_text(masked) == masked


def test_keys_are_known_by_their_form():
    for key in ("AKIAIOSFODNN7EXAMPLE", "AIza" + "b" * 35, "wandb login " + "ab" * 20):
        assert key not in mask_text(f"my {key} here")


@pytest.mark.parametrize(
    "text",
    [
        "tokenizers: 0.19.1",
        "print_info: EOS token        = 2 '</s>'",
        "12.3 ms per token, 81.2 tokens per second",
        "PWD=/opt/work",
        "token: None",
        "max_tokens=4096",
        "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
    ],
)
def test_what_is_no_secret_stays(text):
    assert mask_text(text) == text
