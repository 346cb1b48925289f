// Home of the generated interface definitions.

#include "dialects/dl/Dl.h"

#include "dialects/dl/DlInterfaces.cpp.inc"
