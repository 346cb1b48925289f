
BnJ@^