import base64, re, sys
for line in open(sys.argv[1]):
    least, most, pattern, sample = line.rstrip("\n").split(" ")
    pattern, sample = (base64.b64decode(part).decode() for part in (pattern, sample))
    try:
        matches = re.search(pattern, sample) is not None
        print("1" if matches and int(least) <= len(sample) <= int(most) else "0")
    except re.error:
        print("!")
