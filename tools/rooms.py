"""How large each room is: lines of Python without data and migrations, and its share of all.

python tools/rooms.py            the table, largest first (docs/rooms.md)
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = ("migrations", "data")
MOST = 0.10  # share of the code that one room may have; tests/architecture holds it


def lines_by_room() -> dict[str, int]:
    """Room -> lines, largest first; `accelweb` and single modules such as `units.py` are rooms too."""
    lines: dict[str, int] = {}
    for folder in ("accelweb", "stackviz"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            inside = path.relative_to(ROOT).parts
            if not set(inside) & set(LEFT_OUT):
                room = "accelweb" if folder == "accelweb" else inside[1]
                lines[room] = lines.get(room, 0) + len(path.read_text(encoding="utf-8").splitlines())
    return dict(sorted(lines.items(), key=lambda item: -item[1]))


def main() -> None:
    lines = lines_by_room()
    total = sum(lines.values())
    for room, count in lines.items():
        print(f"{room:<14} {count:>7,} {count / total:>7.1%}")
    print(f"{'all':<14} {total:>7,}")


if __name__ == "__main__":
    main()
