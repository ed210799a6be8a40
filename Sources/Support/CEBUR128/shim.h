// libebur128: loudness by EBU R128.
#pragma once
#include <ebur128.h>
