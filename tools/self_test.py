"""Cases of a tool that reads text: what it makes of each beside what is right."""


def compare(cases, read, what):
    """cases: [(input, right)]; read(*input). Prints what differs and the count; 0 when all is right."""
    bad = 0
    for given, right in cases:
        found = read(*given)
        if found != right:
            bad += 1
            print(f"{given!r}: {found}, expected {right}")
    print(f"{len(cases) - bad} of {len(cases)} {what} right")
    return 1 if bad else 0
