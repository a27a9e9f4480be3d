// SPDX-License-Identifier: GPL-2.0-or-later
/* Vectors: FIPS 180-2, appendix B, and the empty message. */
#include "run-test.h"
#include "sha256.h"

static void assert_digest(const char *text, const char *digest)
{
    char got[SHA256_TEXT_BYTES];
    FILE *stream = tmpfile();

    assert_non_null(stream);
    fputs(text, stream);
    rewind(stream);
    assert_int_equal(sha256_stream(stream, got), 0);
    fclose(stream);
    assert_string_equal(got, digest);
}

static void digests_are_those_of_the_standard(void **state)
{
    static char million[1000001];

    (void)state;
    assert_digest("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_digest("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    memset(million, 'a', sizeof(million) - 1);
    assert_digest(million, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_those_of_the_standard),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
