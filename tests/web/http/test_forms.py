"""A form names its charset freely; only UTF-8 is read."""

import pytest

FORM = b'--e\r\nContent-Disposition: form-data; name="text"\r\n\r\nabc-aaab\r\n--e--\r\n'


@pytest.mark.parametrize("charset", ["punycode", "idna", "hex", "zlib", "rot13", "utf-7", "nonsense"])
@pytest.mark.parametrize("path", ["/diagnose/", "/login/", "/api/v1/diagnose/"])
def test_form_in_other_charset_is_refused_unread(client, db, path, charset):
    client.cookies["csrftoken"] = "a" * 32  # with it the protection of forms reads the form
    answer = client.generic("POST", path, FORM, f"multipart/form-data; boundary=e; charset={charset}")
    assert answer.status_code == 415
    assert answer.headers["Content-Type"].startswith("application/json" if path.startswith("/api") else "text/plain")


@pytest.mark.parametrize("charset", ["hex", "punycode", "zlib", "utf-8"])
def test_a_file_s_name_in_another_charset_is_no_failure(client, db, charset):
    part = f"--e\r\nContent-Disposition: form-data; name=\"files\"; filename*={charset}''abc-61\r\n\r\nabc\r\n--e--\r\n"
    answer = client.generic("POST", "/api/v1/diagnose/", part, "multipart/form-data; boundary=e")
    assert answer.status_code in (400, 422)


@pytest.mark.parametrize("charset", ["UTF-8", "utf8", "us-ascii"])
def test_a_form_in_utf8_is_read(client, db, charset):
    answer = client.generic("POST", "/api/v1/diagnose/", FORM, f"multipart/form-data; boundary=e; charset={charset}")
    assert (answer.status_code, "This is not the output of a supported tool" in answer.json()["error"]) == (422, True)
