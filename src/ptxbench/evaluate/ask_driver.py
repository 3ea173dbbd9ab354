"""Print name, compute capability, memory and UUID of every CUDA device as JSON; run as a script, by itself."""

import ctypes
import json
import sys


def main() -> None:
    """Ask libcuda; end with a line on stderr and status 1 when it cannot be used."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        sys.exit(f"libcuda.so.1 cannot be loaded: {error}")
    code = cuda.cuInit(0)
    if code:
        sys.exit(f"cuInit failed with error {code}")
    count = ctypes.c_int()
    cuda.cuDeviceGetCount(ctypes.byref(count))
    print(json.dumps([describe(cuda, index) for index in range(count.value)]))  # noqa: T201 (this is the answer)


def describe(cuda: ctypes.CDLL, index: int) -> tuple[str, int, int, int, str]:
    """Return name, capability major and minor, bytes of memory and UUID of one device."""
    device, value, memory = ctypes.c_int(), ctypes.c_int(), ctypes.c_size_t()
    name = ctypes.create_string_buffer(256)
    cuda.cuDeviceGet(ctypes.byref(device), index)
    cuda.cuDeviceGetName(name, len(name), device)
    capability = []
    for attribute in (75, 76):  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
        cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
        capability.append(value.value)
    cuda.cuDeviceTotalMem_v2(ctypes.byref(memory), device)
    identity = (ctypes.c_ubyte * 16)()
    cuda.cuDeviceGetUuid_v2(identity, device)
    text = bytes(identity).hex()
    uuid = "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
    return name.value.decode("utf-8", "replace"), capability[0], capability[1], memory.value, f"GPU-{uuid}"


if __name__ == "__main__":
    main()
