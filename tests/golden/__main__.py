"""The command; see the package's own words."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from tests.golden.differences import print_differences
from tests.golden.reworded import read_rewordings

ROOT = Path(__file__).resolve().parent.parent.parent
WAYS = ("upload", "dump", "dump-api", "value")
CHILD = Path(__file__).resolve().parent / "child.py"


def run_child(tree: Path, site: Path, *arguments: str, quiet: bool = False) -> None:
    out = subprocess.DEVNULL if quiet else None
    subprocess.run([sys.executable, str(CHILD), *arguments], cwd=tree, env=environment(site), stdout=out, check=True)


def environment(site: Path) -> dict[str, str]:
    """Nothing of the caller's but where programs are: what is recorded must not depend on who records."""
    env = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    return env | {
        "DJANGO_SETTINGS_MODULE": "tests.golden.settings",
        "VAR_DIR": str(site),
        "SECRET_KEY": "golden-" + "k" * 50,
        "LINKS_PER_HOUR": "1000",
        "LOG_LEVEL": "CRITICAL",
        "PYTHONHASHSEED": "0",
        "COLUMNS": "100",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def seed(site: Path, tree: Path) -> None:
    if site.exists() and any(site.iterdir()):
        sys.exit(f"{site} is not empty")
    site.mkdir(parents=True, exist_ok=True)
    run_child(tree, site, "seed")


def record(folder: Path, tree: Path, site: Path | None, samples: str) -> None:
    """Into `folder`, which is emptied first when an earlier recording stands in it."""
    if folder.exists() and any(folder.iterdir()):
        if not (folder / "sizes.json").exists():
            sys.exit(f"{folder} is not empty, and holds no recording")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="golden-") as scratch:
        copy = Path(scratch) / "site"
        if site is None:
            seed(copy, tree)
        else:
            shutil.copytree(site, copy, symlinks=True)
            run_child(tree, copy, "upgrade")
        run_child(tree, copy, "record", str(folder.resolve()), samples)


def walk(tree: Path, site: Path | None, names: list[str], *, with_files: bool) -> None:
    """Each way in a process of its own: what another left in memory would shorten it."""
    with tempfile.TemporaryDirectory(prefix="golden-") as scratch:
        seeded = Path(scratch) / "seeded"
        if site is None:
            seed(seeded, tree)
        else:
            shutil.copytree(site, seeded, symlinks=True)
            run_child(tree, seeded, "upgrade", quiet=True)
        for name in names:
            copy = Path(scratch) / name
            if name == "value":
                copy.mkdir()
            else:
                shutil.copytree(seeded, copy, symlinks=True)
            run_child(tree, copy, "walk", name, *(["files"] if with_files else []))


def shoot(folder: Path, tree: Path, site: Path | None, only: str) -> None:
    """Serves a copy of the site, and has a browser draw it."""
    from tests.golden import shots
    from tests.live import free_port

    with tempfile.TemporaryDirectory(prefix="golden-") as scratch:
        copy, port = Path(scratch) / "site", free_port()
        if site is None:
            seed(copy, tree)
        else:
            shutil.copytree(site, copy, symlinks=True)
            run_child(tree, copy, "upgrade", quiet=True)
        command = [sys.executable, str(CHILD), "serve", str(port)]
        server = subprocess.Popen(command, cwd=tree, env=environment(copy), stderr=subprocess.DEVNULL)
        try:
            wait_for(f"http://127.0.0.1:{port}/health/")
            shots.shoot(port, json.loads((copy / "seed.json").read_text()), folder, only)
        finally:
            server.terminate()
            server.wait()


def wait_for(url: str) -> None:
    for _try in range(300):
        try:
            with urllib.request.urlopen(url):
                return
        except OSError:
            time.sleep(0.1)
    sys.exit(f"{url} does not answer")


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.golden", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("seed", "record", "shoot"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        command.add_argument("--tree", type=Path, default=ROOT, help="the checkout whose code runs (default: this one)")
        if name != "seed":
            command.add_argument("--site", type=Path, help="a folder that `seed` filled; it is copied and upgraded")
        if name == "shoot":
            command.add_argument("--only", default="", help="pages whose name holds this regular expression")
        if name == "record":
            command.add_argument("--samples", default="", help="a folder of more dumps for the agent to diagnose")
    walking = commands.add_parser("walk")
    walking.add_argument("names", nargs="*", metavar="WAY", help=f"{', '.join(WAYS)} (default: all)")
    walking.add_argument("--tree", type=Path, default=ROOT)
    walking.add_argument("--site", type=Path)
    walking.add_argument("--files", action="store_true", help="name the files, in the order they are entered")
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--only", default="", help="names that hold this text")
    comparing.add_argument("--short", action="store_true", help="one line for each page that differs")
    comparing.add_argument("--spacing", action="store_true", help="white space is a difference too")
    comparing.add_argument("--reworded", type=Path, nargs="+", help="lists of texts that were reworded on purpose")
    comparing.add_argument("--tree-before", type=Path, default=ROOT, help="the checkout that recorded BEFORE")
    pixels = commands.add_parser("compare-shots")
    pixels.add_argument("before", type=Path)
    pixels.add_argument("after", type=Path)
    pixels.add_argument("out", type=Path, help="where pictures of the differences are written")
    options = parser.parse_args()
    if options.command == "compare":
        meant = read_rewordings(options.reworded, options.tree_before) if options.reworded else []
        return print_differences(
            options.before,
            options.after,
            only=options.only,
            short=options.short,
            rewordings=meant,
            spacing=options.spacing,
        )
    if options.command == "compare-shots":
        from tests.golden.shots import print_picture_differences

        return print_picture_differences(options.before, options.after, options.out)
    tree = options.tree.resolve()
    if options.command == "walk":
        walk(tree, options.site, options.names or list(WAYS), with_files=options.files)
    elif options.command == "shoot":
        shoot(options.folder, tree, options.site, options.only)
    elif options.command == "seed":
        seed(options.folder, tree)
    else:
        record(options.folder, tree, options.site, str(Path(options.samples).resolve()) if options.samples else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
