"""The package as a whole: what starting it loads, and that its public names are there."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import affectlab

HEAVY = (
    "accelerate",
    "argon2",
    "datasets",
    "datasketch",
    "denckring_en_pos",
    "gguf",
    "jax",
    "matplotlib",
    "mpl_toolkits",
    "numpyro",
    "openai",
    "pandas",
    "polars",
    "safetensors",
    "scipy",
    "sklearn",
    "sqlalchemy",
    "starlette",
    "statsmodels",
    "tokenizers",
    "torch",
    "transformers",
    "uvicorn",
)
ROOT = Path(__file__).resolve().parents[1]


def loaded_by(statements: str) -> list[str]:
    """Which heavy packages a fresh interpreter has loaded after some statements."""
    code = f"{statements}\nimport sys\nprint('LOADED', *sorted({set(HEAVY)!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith("LOADED"), done.stdout
    return last.split()[1:]


COMMAND = """
import sys
sys.argv = ["affectlab", *{arguments!r}]
from affectlab.cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""


def test_the_check_itself_sees_a_heavy_import() -> None:
    assert loaded_by("import scipy") == ["scipy"]


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_by("import affectlab") == []


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["run", "--help"], ["labels"], ["benchmarks"], ["models"]],
    ids=" ".join,
)
def test_starting_the_command_line_loads_nothing_heavy(arguments: list[str]) -> None:
    assert loaded_by(COMMAND.format(arguments=arguments)) == []


def test_a_wrong_option_is_the_users_mistake() -> None:
    code = COMMAND.format(arguments=["run", "chiaro", "--no-such-option"])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "AssertionError: 2" in done.stderr  # the exit code, which COMMAND asserts to be 0
    assert "No such option" in done.stderr
    assert "bug in affectlab" not in done.stderr


def imported() -> dict[str, str]:
    """Every package that a module of ours imports anywhere -> one such module."""
    found = {}
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            for name in names:
                found[name.partition(".")[0]] = str(path.relative_to(ROOT))
    return found


_IMPORTED_AS = {"pillow": "PIL", "argon2_cffi": "argon2", "scikit_learn": "sklearn"}


def declared() -> set[str]:
    """Packages that pyproject.toml asks for, in the core or in an extra, by the names they are imported under."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    requirements = [
        *project["dependencies"],
        *(
            one
            for name in ("local", "hub", "frames", "text", "irt", "audit", "annotate")
            for one in project["optional-dependencies"][name]
        ),
    ]
    names = {re.split(r"[\[<>=~! ]", one)[0].replace("-", "_").lower() for one in requirements}
    return {_IMPORTED_AS.get(name, name) for name in names} | {"pydantic_core"}  # pydantic pins the latter


def test_every_package_that_is_imported_is_a_declared_dependency() -> None:
    foreign = {name: where for name, where in imported().items() if name not in sys.stdlib_module_names}
    assert {name: where for name, where in foreign.items() if name not in declared() | {"affectlab"}} == {}


@pytest.mark.parametrize("name", affectlab.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(affectlab, name) is not None
    assert name in dir(affectlab)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = affectlab.nothing


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert affectlab.__version__ == project["version"] == metadata.version("affectlab")
    assert f"\nversion: {affectlab.__version__}\n" in citation
    assert f"\n## [{affectlab.__version__}]" in changelog


def test_no_source_file_is_too_long_to_hold_in_mind() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / "src").rglob("*.py")}
    assert {str(path.relative_to(ROOT)): length for path, length in lengths.items() if length > 400} == {}
