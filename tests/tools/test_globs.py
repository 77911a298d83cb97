import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.tools.globs import matcher


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.md", "a/b/c.md", True),
        ("*.md", "a/b/c.mdx", False),
        ("guide", "guide/a/b.md", True),
        ("guide/", "guide/a.md", True),
        ("guide", "guides/a.md", False),
        ("guide/*.md", "guide/a.md", True),
        ("guide/*.md", "guide/a/b.md", False),
        ("guide/**/*.md", "guide/a/b.md", True),
        ("guide/**/*.md", "guide/b.md", True),
        ("guide/**", "guide/a/b.md", True),
        ("**/api/*", "x/api/y", True),
        ("**/api/*", "api/y", True),
        ("/guide", "a/guide/b.md", False),
        ("a?c.md", "abc.md", True),
        ("a?c.md", "a/c.md", False),
        ("[ab].md", "b.md", True),
        ("[!ab].md", "b.md", False),
        ("[z-a].md", "[z-a].md", True),
        ("a+b(1).md", "a+b(1).md", True),
        ("docs/a.md", "docs/a.md", True),
        ("docs/a.md", "x/docs/a.md", False),
    ],
)
def test_pattern_matches_as_users_expect(pattern, path, expected):
    assert matcher([pattern])(path) is expected


@given(st.text(alphabet="ab/*?[]!-.\\^", max_size=12), st.text(alphabet="ab/.", max_size=8))
def test_any_pattern_compiles_and_decides(pattern, path):
    assert matcher([pattern])(path) in (True, False)
